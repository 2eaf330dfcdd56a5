import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Answers } from "./answers.ts";
import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import { gemini } from "./gemini.ts";
import { responses } from "./responses.ts";

/**
 * A provider that answers from memory, so that its own cost stays small. The start of a path selects the answer:
 *
 * - `/stream/N/...`: a text of N chunks, as fast as the client reads
 * - `/padded/N/...`: the same, with random padding in each event, as OpenAI sends it
 * - `/turns/N/...`: a text of N chunks, a different answer each time
 * - `/paced/N/...`: the same, a chunk every 20 ms
 * - `/loop/N/...`: a call, until the request has the results of N calls; then a text
 *
 * The end of the path selects the format: `/messages` Anthropic's, `:streamGenerateContent` Gemini's, `/responses` that of
 * responses, any other that of chat completions. Every event is a separate HTTP chunk, like at real providers.
 */
const PACE = 20;

function answersOf(url: string): Answers {
  if (url.includes("/messages")) return anthropic;
  if (url.includes("/responses")) return responses;
  return url.includes("Content") ? gemini : chat;
}

const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
  const body = await buffer(request);
  const { url = "" } = request;
  const [, route, length] = url.split("/");
  const count = Number(length);
  // Some clients request `/messages?beta=true`.
  const answers = answersOf(url);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  switch (route) {
    case "stream":
      return writeAtOnce(
        response,
        prepared(url, () => framed(answers.text(count))),
      );
    case "padded":
      return writeAtOnce(
        response,
        prepared(url, () => framed(answers.text(count).map(padded))),
      );
    case "turns":
      return writeAtOnce(response, framed(answers.text(count, ++answered)));
    case "paced":
      return writePaced(response, answers.text(count));
    case "loop": {
      const next = answers.lastCall(body) + 1;
      const events = () => framed(next <= count ? answers.call(next) : answers.text(10));
      return writeAtOnce(response, prepared(`${url} ${next}`, events));
    }
    default:
      throw new Error(`The mock provider has no ${url}.`);
  }
});

// The parent process is gone.
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));

let answered = 0;

const kept = new Map<string, Buffer>();

function prepared(name: string, make: () => Buffer): Buffer {
  let bytes = kept.get(name);
  if (!bytes) {
    bytes = make();
    kept.set(name, bytes);
  }
  return bytes;
}

/** Adds padding of 1 to 16 characters to an event with an object. */
function padded(event: Buffer, index: number): Buffer {
  const padding = Array.from({ length: ((index * 7) % 16) + 1 }, (_, at) => "aZ3kQ9xB"[(index + at * 5) % 8]).join("");
  return Buffer.from(String(event).replace(/\}\n\n$/, `,"obfuscation":"${padding}"}\n\n`));
}

/** Returns the body of a response whose events are HTTP chunks. */
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
  // The head announces chunks, and this body is already chunked.
  response.chunkedEncoding = false;
  response.end(body);
}

let started = 0;

function writePaced(response: ServerResponse, events: readonly Buffer[]): void {
  let next = 0;
  // Conversations that start together must not stay in step.
  setTimeout(() => {
    const timer = setInterval(() => {
      response.write(events[next++]);
      if (next < events.length) return;
      clearInterval(timer);
      response.end();
    }, PACE);
  }, started++ % PACE);
}
