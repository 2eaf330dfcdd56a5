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

/** Stands between a driver and the mock, whose own journal keeps only what all formats have in common. */
export interface Relay extends AsyncDisposable {
  /** `http://127.0.0.1:port`. */
  readonly address: string;
  /** In the order in which they came. */
  readonly requests: readonly Sent[];
  /** What the server answered to each, byte for byte. */
  readonly answers: readonly Buffer[];
}

/**
 * Passes requests on to a server and its answers back, piece by piece, as they are: a connection that breaks on one
 * side breaks on the other. `edit` changes each piece of an answer, for what the mock cannot be made to say. `refuse` says
 * what a provider refuses of a request: where it says anything, the answer is a 400 with these words.
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
    // A question about the server, such as for its windows, is no request to the model: the mock knows nothing of them.
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
      // A broken answer has broken the response too by now; its reader tells.
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
