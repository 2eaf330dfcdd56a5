import { setTimeout as sleep } from "node:timers/promises";
import { checkArguments, OptionError, type OptionNames, refuseUnknown } from "../../conversation/option-names.ts";
import type { Json } from "../../conversation/part.ts";
import { parseJsonText } from "../../conversation/shape-problem.ts";
import { ModelError } from "../../ports/model.ts";
import {
  bytesOf,
  chunkOf,
  pathOf,
  type RecordedChunk,
  type RecordedExchange,
  type RecordedRequest,
  readRecording,
  writeRecording,
} from "./recording-file.ts";
import { differences } from "./request-difference.ts";
import { Secrets } from "./secrets.ts";

/**
 * Options of `recorded`.
 * @example
 * recorded("weather.json", (fetch) => resolveModel("openai/gpt-5", { fetch }), {
 *   record: process.argv.includes("--record"),
 *   timing: true,
 *   secrets: ["the street where I live"],
 * });
 */
export interface RecordedOptions {
  /** True to send the requests to the provider, and to replace the file. Default: true if `BANYAN_RECORD` is `1`. */
  readonly record?: boolean | undefined;
  /** True to replay each response with the pauses of the provider. Default: without pauses. */
  readonly timing?: boolean | undefined;
  /**
   * Further secret texts, which the file must not contain. Keys in headers, queries and environment variables are known
   * already.
   */
  readonly secrets?: readonly string[] | undefined;
}

const OPTIONS: OptionNames<RecordedOptions> = { record: true, timing: true, secrets: true };

/**
 * Returns a model whose requests are answered from a file, without a network and byte for byte. `open` makes the model
 * with the given `fetch`: a driver, a promise of one, or a model of an AI SDK package. With `BANYAN_RECORD=1` the
 * requests go to the provider, and the file is replaced. Each recorded request is answered once, in any order. Any other
 * request fails with a `ModelError` that names the differences. Use one file for each call. Throws an `Error` if the
 * file is missing.
 * @example
 * const model = await recorded("weather.json", (fetch) => resolveModel("openai/gpt-5", { fetch }));
 */
export function recorded<Model>(
  file: string | URL,
  open: (fetch: typeof globalThis.fetch) => Model,
  options: RecordedOptions = {},
): Model {
  refuseUnknown("recorded", options, OPTIONS);
  if (!(file instanceof URL)) checkArguments("recorded", { file }, { file: "string" });
  if (typeof open !== "function")
    throw new OptionError("recorded takes a function that makes the model: (fetch) => resolveModel(name, { fetch }).");
  const { BANYAN_RECORD, CI } = process.env;
  const { record = isOn(BANYAN_RECORD), timing = false, secrets = [] } = options;
  for (const [name, value] of Object.entries({ record, timing }))
    if (typeof value !== "boolean") throw new OptionError(`${name} of recorded must be true or false, not ${value}.`);
  if (!Array.isArray(secrets) || secrets.some((secret) => typeof secret !== "string"))
    throw new OptionError('secrets of recorded must be a list of texts, such as ["...", "..."].');
  const path = pathOf(file);
  if (!record) return open(replaying(path, timing, secrets));
  if (isOn(CI) && !isOn(BANYAN_RECORD))
    throw new OptionError(`${path} is not recorded in CI: leave out record: true, or set BANYAN_RECORD=1.`);
  return open(recording(path, secrets));
}

function isOn(variable = ""): boolean {
  return !["", "0", "false"].includes(variable);
}

function recording(path: string, secrets: readonly string[]): typeof globalThis.fetch {
  const exchanges: (RecordedExchange | undefined)[] = [];
  return async (address, init) => {
    const request = new Request(address, init);
    const hidden = new Secrets(secrets, process.env);
    const place = exchanges.push(undefined) - 1;
    const described = await describe(request, hidden);
    const response = await fetch(request);
    const { body, end } = await readBody(response, request.signal, hidden);
    const exchange: RecordedExchange = {
      request: described,
      response: { status: response.status, headers: hidden.headers(response.headers), body, ...(end ? { end } : {}) },
    };
    exchanges[place] = exchange;
    writeRecording(
      path,
      exchanges.filter((each) => each !== undefined),
    );
    // The first run sees the same response as each replay.
    return answer(exchange, request.signal, false);
  };
}

function replaying(path: string, timing: boolean, secrets: readonly string[]): typeof globalThis.fetch {
  const exchanges = readRecording(path);
  if (!exchanges)
    throw new Error(`There is no recording ${path}. Record it with BANYAN_RECORD=1 and the provider's key.`);
  const unused = [...exchanges];
  return async (address, init) => {
    const request = new Request(address, init);
    request.signal.throwIfAborted();
    const hidden = new Secrets(secrets, process.env);
    const sent = await describe(request, hidden);
    // The key of this run may be a word of the recorded request: hide the word in both.
    const expected = unused.map((exchange) => ({
      method: exchange.request.method,
      path: hidden.text(exchange.request.path),
      body: hidden.json(exchange.request.body),
    }));
    const place = expected.findIndex((request) => difference(request, sent).length === 0);
    const [found] = place < 0 ? [] : unused.splice(place, 1);
    if (!found) throw mismatch(path, exchanges.length - unused.length + 1, expected[0], sent);
    return answer(found, request.signal, timing);
  };
}

type Comparable = Omit<RecordedRequest, "headers">;

function difference(recorded: Comparable, sent: Comparable): string[] {
  const { method, path } = recorded;
  const place = differences({ method, path }, { method: sent.method, path: sent.path });
  return place.length > 0 ? place : differences(recorded.body, sent.body);
}

function mismatch(path: string, number: number, next: Comparable | undefined, sent: Comparable): ModelError {
  const lines = next ? difference(next, sent) : [`recorded nothing more, sent ${sent.method} ${sent.path}`];
  const fact = `Request ${number} is not in ${path}: ${lines.join("; ")}`;
  const advice = "if this is right, record again with BANYAN_RECORD=1";
  const detail = [`Request ${number} is not in ${path}`, ...lines, advice].join("\n  ");
  return new ModelError("invalid-request", { fact, advice }, { detail });
}

/** Reads a request without using it up. */
async function describe(request: Request, secrets: Secrets): Promise<RecordedRequest> {
  secrets.learnHeaders(request.headers);
  const path = secrets.path(request.url);
  const text = await request.clone().text();
  const given = text === "" ? null : ((parseJsonText(text) ?? text) as Json);
  secrets.learnFields(given);
  const body = secrets.json(given);
  return { method: request.method, path, headers: secrets.headers(request.headers), body };
}

/** Reads a body with the times of its chunks, and hides secrets that chunks cut apart, too. */
async function readBody(
  response: Response,
  signal: AbortSignal,
  secrets: Secrets,
): Promise<{ readonly body: readonly RecordedChunk[]; readonly end?: "cut" | "aborted" }> {
  const reads: { readonly bytes: Buffer; readonly after: number }[] = [];
  let end: "cut" | "aborted" | undefined;
  let last = performance.now();
  try {
    for await (const bytes of response.body ?? []) {
      const now = performance.now();
      reads.push({ bytes: Buffer.from(bytes), after: Math.round(now - last) });
      last = now;
    }
  } catch {
    // The recording repeats the failure at the same place.
    end = signal.aborted ? "aborted" : "cut";
  }
  const whole = secrets.bytes(Buffer.concat(reads.map(({ bytes }) => bytes)));
  let start = 0;
  const body = reads.map(({ bytes, after }) => {
    const chunk = chunkOf(whole.subarray(start, start + bytes.length), after);
    start += bytes.length;
    return chunk;
  });
  return { body, ...(end ? { end } : {}) };
}

function answer({ response }: RecordedExchange, signal: AbortSignal, timing: boolean): Response {
  const { status, headers, body, end } = response;
  if ([101, 204, 205, 304].includes(status)) return new Response(null, { status, headers });
  let index = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        signal.throwIfAborted();
        const chunk = body[index++];
        if (chunk) {
          if (timing) await sleep(chunk.after, undefined, { signal });
          controller.enqueue(bytesOf(chunk));
          return;
        }
        if (end === "aborted") await sleep(2 ** 31 - 1, undefined, { signal, ref: false });
        if (end === "cut") throw new TypeError("terminated");
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { status, headers });
}
