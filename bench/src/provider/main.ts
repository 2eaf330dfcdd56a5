import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { callAnswer, lastCall, textAnswer } from "./answers.ts";

/**
 * A provider of the chat completions format that answers from memory, so that it is not what is measured:
 *
 * - `/stream/N/...`: a text of N chunks, as fast as they are taken
 * - `/turns/N/...`: a text of N chunks, each time another answer
 * - `/paced/N/...`: the same, a chunk every 20 ms
 * - `/loop/N/...`: a call, until the request holds the results of N calls; then a text
 *
 * Every event is an HTTP chunk of its own, as real providers send them.
 */
const PACE = 20;

const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  const body = await buffer(request);
  const [, route, length] = (request.url ?? "").split("/");
  const count = Number(length);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  switch (route) {
    case "stream":
      return writeAtOnce(
        response,
        prepared(route, count, () => framed(textAnswer(count))),
      );
    case "turns":
      return writeAtOnce(response, framed(textAnswer(count, ++answered)));
    case "paced":
      return writePaced(response, textAnswer(count));
    case "loop": {
      const done = lastCall(body);
      const events = () => framed(done < count ? callAnswer(done + 1) : textAnswer(10));
      return writeAtOnce(response, prepared(route, done < count ? done + 1 : 0, events));
    }
    default:
      throw new Error(`The mock provider has no ${request.url}.`);
  }
});

// Whoever started it is gone.
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));

let answered = 0;

const kept = new Map<string, Buffer>();

function prepared(route: string, number: number, make: () => Buffer): Buffer {
  const name = `${route}/${number}`;
  let bytes = kept.get(name);
  if (!bytes) {
    bytes = make();
    kept.set(name, bytes);
  }
  return bytes;
}

/** The body of a response whose events are HTTP chunks. */
function framed(events: readonly Buffer[]): Buffer {
  const chunks = events.flatMap((event) => [
    Buffer.from(`${event.length.toString(16)}\r\n`),
    event,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")]);
}

function writeAtOnce(response: ServerResponse, body: Buffer): void {
  response.flushHeaders();
  // The head has said that chunks follow; these are framed already.
  response.chunkedEncoding = false;
  response.end(body);
}

let started = 0;

function writePaced(response: ServerResponse, events: readonly Buffer[]): void {
  let next = 0;
  // Conversations that began together do not stay in step.
  setTimeout(() => {
    const timer = setInterval(() => {
      response.write(events[next++]);
      if (next < events.length) return;
      clearInterval(timer);
      response.end();
    }, PACE);
  }, started++ % PACE);
}
