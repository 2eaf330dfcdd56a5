import { type IncomingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";

/** A response, as received over the wire. */
export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request with any headers, including those that browsers forbid to pages. */
export function ask(
  address: string,
  path: string,
  options: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  } = {},
): Promise<Answered> {
  const { method = "GET", headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    const sent = request(`${address}${path}`, { method, headers, agent: false }, (response) => {
      void text(response).then(
        (answer) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: answer }),
        reject,
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
