import { request as ask } from "node:http";
import { pipeline, Transform } from "node:stream";
import { bodyOf, serve } from "../server.ts";

/** A request as a driver sent it. */
export interface Sent {
  readonly path: string;
  /** The body, byte for byte. */
  readonly text: string;
  /** The parsed JSON. */
  readonly body: unknown;
}

/** A proxy between a driver and the mock. The mock's own journal only has what all formats share. */
export interface Relay extends AsyncDisposable {
  /** `http://127.0.0.1:port`. */
  readonly address: string;
  /** In the order of arrival. */
  readonly requests: readonly Sent[];
  /** The server's answer to each request, byte for byte. */
  readonly answers: readonly Buffer[];
}

/**
 * Forwards requests to a server and answers back, piece by piece and unchanged; a broken connection breaks the other side
 * too. `edit` changes pieces of an answer in ways that the mock cannot. `refuse` lists what a provider would refuse; if it
 * lists anything, the answer is a 400 with this text.
 */
export async function relayTo(
  server: string,
  edit?: (piece: string) => string,
  refuse: (body: unknown) => readonly string[] = () => [],
): Promise<Relay> {
  const requests: Sent[] = [];
  const answers: Buffer[] = [];
  const relay = await serve(async (request, response) => {
    const path = request.url ?? "";
    const body = await bodyOf(request);
    // Requests about the server, such as for its context size, are not for the model: the mock does not know them.
    if (body === "" || path.startsWith("/api/")) {
      response.writeHead(404).end();
      return;
    }
    const parsed: unknown = JSON.parse(body);
    const index = requests.push({ path, text: body, body: parsed }) - 1;
    answers[index] = Buffer.alloc(0);
    const refused = refuse(parsed);
    if (refused.length > 0) {
      const error = { message: refused.join("; "), type: "invalid_request_error" };
      response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
      return;
    }
    const { host: _host, ...headers } = request.headers;
    const passed = ask(new URL(path, server), { method: request.method ?? "POST", headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("data", (piece: Buffer) => {
        answers[index] = Buffer.concat([answers[index] ?? Buffer.alloc(0), piece]);
      });
      // A broken answer has broken the response too, and the response's reader reports this.
      if (edit) pipeline(answer, editing(edit), response, () => {});
      else pipeline(answer, response, () => {});
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    passed.end(body);
  });
  return {
    address: relay.baseURL.replace(/\/v1$/, ""),
    requests,
    answers,
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  };
}

function editing(edit: (piece: string) => string): Transform {
  return new Transform({
    transform(piece: Buffer, _, done) {
      done(null, edit(piece.toString()));
    },
  });
}
