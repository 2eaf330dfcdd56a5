import { handWritten } from "./chat.js";

/** A client written by hand over the global `fetch`. */
export function connect(address) {
  return handWritten(async (body, take) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${address}/chat/completions`, { method: "POST", headers, body });
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) take(text);
  });
}
