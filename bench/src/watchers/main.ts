// Clients of a WebSocket server, in a separate process. Arguments: the socket's address, the number of clients, the token,
// and the first frames of each client as JSON. Sends `ready` when each client got a frame with the word snapshot, and
// `ended` when each got a frame with the text run.ended. After the message `pause`, the clients stop reading.
import { WebSocket } from "ws";

const [address = "", count = "1", token = "", frames = "[]"] = process.argv.slice(2);
let ready = 0;
let ended = 0;
const sockets = Array.from({ length: Number(count) }, () => {
  const socket = new WebSocket(address, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    skipUTF8Validation: true,
  });
  let begun = false;
  socket.on("open", () => {
    for (const frame of JSON.parse(frames) as unknown[]) socket.send(JSON.stringify(frame));
  });
  socket.on("message", (data: Buffer) => {
    if (!begun && data.includes("snapshot")) {
      begun = true;
      if (++ready === Number(count)) process.send?.("ready");
    }
    if (data.includes("run.ended") && ++ended === Number(count)) process.send?.("ended");
  });
  return socket;
});
process.on("message", () => {
  for (const socket of sockets) socket.pause();
  process.send?.("paused");
});
