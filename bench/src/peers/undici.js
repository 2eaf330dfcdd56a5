import { StringDecoder } from "node:string_decoder";
import { Pool } from "undici";
import { handWritten } from "./chat.js";

/** A client written by hand over a pool of undici. */
export function connect(address) {
  const { origin, pathname } = new URL(address);
  const pool = new Pool(origin);
  const request = {
    path: `${pathname}/chat/completions`,
    method: "POST",
    headers: { "content-type": "application/json" },
  };
  return handWritten(
    (body, take) =>
      new Promise((resolve, reject) => {
        const utf8 = new StringDecoder("utf8");
        pool.dispatch(
          { ...request, body },
          {
            onRequestStart() {},
            onResponseStart() {},
            onResponseData: (_, bytes) => take(utf8.write(bytes)),
            onResponseEnd: () => resolve(),
            onResponseError: (_, error) => reject(error),
          },
        );
      }),
  );
}
