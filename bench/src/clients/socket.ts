import { once } from "node:events";
import { connect as openSocket } from "node:net";
import type { Format } from "../measure.ts";
import type { Client } from "./client.ts";
import { formats } from "./formats/index.ts";

const END = Buffer.from("\r\n0\r\n\r\n");

/** Reads the bytes and ignores them: no client in JavaScript can be faster. */
export function connect(address: string, format: Format): Client {
  const { hostname, port, pathname } = new URL(address);
  return {
    async open() {
      const socket = openSocket({ host: hostname, port: Number(port), noDelay: true });
      await once(socket, "connect");
      return {
        ask(question) {
          const body = JSON.stringify({ model: "mock", stream: true, messages: [{ role: "user", content: question }] });
          const head = `POST ${pathname}${formats[format].path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
          socket.write(head + body);
          return new Promise((resolve, reject) => {
            socket.on("error", reject);
            socket.on("data", (bytes) => {
              // The end of the answer arrives in one piece with earlier bytes. If it did not, the process would not end.
              if (bytes.compare(END, 0, END.length, Math.max(0, bytes.length - END.length)) !== 0) return;
              socket.removeAllListeners();
              resolve(undefined);
            });
          });
        },
      };
    },
  };
}
