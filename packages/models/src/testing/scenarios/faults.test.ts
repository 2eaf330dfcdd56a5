import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as listen, type Server, type Socket } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { ModelError } from "@banyan/core";
import type { ModelPart } from "@banyan/core/drivers";
import { describe, expect, test } from "vitest";
import type { EnvironmentVariables } from "../../provider/environment.ts";
import { resolveModel } from "../../resolve.ts";
import type { WireBounds } from "../../wire/bounds.ts";
import { chunk, eventOf } from "../server.ts";
import { KeepingSink, say } from "../sink.ts";
import { formats, openAt } from "./formats.ts";
import { play } from "./play.ts";
import { scenarios } from "./scenarios.ts";

const LONG = process.env.BANYAN_LONG !== undefined;

/** A service's changes to an answer. */
interface Fault {
  /** The pieces of the body. */
  readonly pieces?: readonly Uint8Array[];
  /** Milliseconds between pieces. */
  readonly pause?: number;
  readonly coding?: string;
  readonly type?: string;
  readonly status?: number;
  readonly location?: string;
  /** After the last piece: a proper end of HTTP, a reset connection, or an open connection. */
  readonly last?: "end" | "cut" | "open";
}

/** Answers each request with a fault, written directly to the socket, so that no layer repairs it. */
class Service implements AsyncDisposable {
  fault: Fault = {};
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<Service> {
    const server = listen();
    const service = new Service(server);
    server.on("connection", (socket) => service.#serve(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return service;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("close", () => this.#sockets.delete(socket));
    // A reader that has enough hangs up.
    socket.on("error", () => {});
    let request = "";
    socket.setEncoding("latin1").on("data", (text: string) => {
      request += text;
      const head = request.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(request)?.[1] ?? 0);
      if (head === -1 || request.length < head + 4 + length) return;
      request = "";
      void this.#answer(socket);
    });
  }

  async #answer(socket: Socket): Promise<void> {
    const { pieces = [], pause, coding, type = "text/event-stream", status = 200, location, last = "end" } = this.fault;
    const headers = [
      `HTTP/1.1 ${status} As asked`,
      `content-type: ${type}`,
      "transfer-encoding: chunked",
      ...(coding ? [`content-encoding: ${coding}`] : []),
      ...(location ? [`location: ${location}`] : []),
    ];
    socket.write(`${headers.join("\r\n")}\r\n\r\n`);
    for (const piece of pieces) {
      if (pause !== undefined) await new Promise((resolve) => setTimeout(resolve, pause));
      if (piece.length > 0) {
        const chunked = [Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")];
        if (!socket.write(Buffer.concat(chunked)) && !socket.destroyed) {
          await new Promise((resolve) => socket.once("drain", resolve).once("close", resolve));
        }
      }
      if (socket.destroyed) return;
    }
    if (last === "cut") socket.destroy();
    if (last === "end") socket.write("0\r\n\r\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}

interface Heard {
  readonly parts: readonly ModelPart[];
  readonly error: ModelError | undefined;
  /** Batches without parts, which only report progress. */
  readonly life: number;
}

interface Way {
  readonly name: string;
  readonly model: string;
  readonly throughPackage?: boolean;
  environment(address: string): EnvironmentVariables;
}

const NAMES = ["OpenAI chat", "OpenAI responses", "Anthropic", "Gemini"];
const ways: readonly Way[] = formats
  .filter(({ name }) => NAMES.includes(name))
  .flatMap((format) =>
    /^(openai-chat|anthropic|google)/.test(format.model)
      ? [format, { ...format, name: `${format.name}, through its package`, throughPackage: true as const }]
      : [format],
  );

/** Milliseconds that a driver waits for the rest of an answer on an open connection. No test sends data then. */
const LINGER = 200;

async function hear(way: Way, service: Service, fault: Fault, set: WireBounds = {}): Promise<Heard> {
  service.fault = fault;
  // A connection that ends must not race with a timer: its last pieces may come late on a busy machine.
  const bounds = fault.last === "open" ? { linger: LINGER, ...set } : set;
  const overrides = way.throughPackage ? { [way.model]: { driver: "package" as const } } : {};
  const driver = await resolveModel(way.model, { env: way.environment(service.address), overrides, bounds });
  const sink = new KeepingSink();
  let error: unknown;
  await driver.stream(say("Hello"), sink, new AbortController().signal).catch((thrown: unknown) => {
    error = thrown;
  });
  const life = sink.batches.filter((batch) => batch.length === 0).length;
  if (error !== undefined) expect(error).toBeInstanceOf(ModelError);
  return { parts: sink.parts, error: error as ModelError | undefined, life };
}

/** An answer of each format from a provider's mock, for example with a text and two calls. */
async function recorded(way: Way): Promise<Buffer> {
  const scenario = scenarios.find(({ name }) => name.includes("call")) ?? scenarios[0];
  const format = formats.find(({ model }) => model === way.model);
  if (!scenario || !format) throw new Error("There is nothing to record.");
  const { answers } = await play(format, scenario);
  return answers[0] ?? Buffer.alloc(0);
}

/** The content of an answer, independent of cuts and generated ids. */
const said = ({ parts }: Heard) => JSON.stringify(parts.filter(({ type }) => type !== "part-end"));

/** Expects a readable error. */
function expectSentence(error: ModelError | undefined): void {
  expect(error?.message.length).toBeLessThanOrEqual(500);
  expect(error?.message).not.toMatch(/[\p{Cc}<]/u);
}

const CODINGS: readonly (readonly [string, (bytes: Uint8Array) => Buffer])[] = [
  ["gzip", gzipSync],
  ["x-gzip", gzipSync],
  ["deflate", deflateSync],
  ["deflate", deflateRawSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
  ["gzip, br", (bytes) => brotliCompressSync(gzipSync(bytes))],
];

const bytesOf = (buffer: Uint8Array, size = 1) =>
  Array.from({ length: Math.ceil(buffer.length / size) }, (_, index) =>
    buffer.subarray(index * size, (index + 1) * size),
  );

/** All positions of an answer in long mode, else a sample. */
function placesIn(length: number): number[] {
  const step = LONG ? 1 : Math.max(1, Math.ceil(length / 24));
  return Array.from({ length: Math.ceil(length / step) }, (_, index) => index * step);
}

describe.each(ways)("$name", (way) => {
  test("F13, F16: an answer that is cut at any byte is complete or one error, and contains no text that the whole lacks", async () => {
    await using service = await Service.open();
    const answer = await recorded(way);
    const whole = await hear(way, service, { pieces: [answer] });
    expect(whole.error).toBeUndefined();
    for (const at of placesIn(answer.length)) {
      const { parts, error } = await hear(way, service, { pieces: [answer.subarray(0, at)], last: "cut" });
      const finished = parts.at(-1)?.type === "finish";
      expect(finished, `at ${at}`).toBe(error === undefined);
      if (error) expectSentence(error);
      else expect(parts.at(-1)).toMatchObject({ reason: (whole.parts.at(-1) as { reason: string }).reason });
    }
  });

  test("F13: split anywhere, and byte by byte, it is the same", async () => {
    await using service = await Service.open();
    const answer = await recorded(way);
    const whole = await hear(way, service, { pieces: [answer] });
    expect(said(await hear(way, service, { pieces: bytesOf(answer) }))).toBe(said(whole));
    for (const at of placesIn(answer.length)) {
      const heard = await hear(way, service, { pieces: [answer.subarray(0, at), answer.subarray(at)] });
      expect(said(heard), `at ${at}`).toBe(said(whole));
    }
  });

  test.each(CODINGS)(
    "F28: packed as %s, though nobody asked for it, it is the same, also in pieces and cut",
    async (coding, pack) => {
      await using service = await Service.open();
      const answer = await recorded(way);
      const whole = await hear(way, service, { pieces: [answer] });
      const packed = pack(answer);
      expect(said(await hear(way, service, { pieces: [packed], coding }))).toBe(said(whole));
      expect(said(await hear(way, service, { pieces: bytesOf(packed, 7), coding }))).toBe(said(whole));
      // The answer ends here even if HTTP does not end.
      expect(said(await hear(way, service, { pieces: [packed], coding, last: "open" }))).toBe(said(whole));
      const half = packed.subarray(0, packed.length / 2);
      const cut = await hear(way, service, { pieces: [half], coding, last: "cut" });
      expectSentence(cut.error);
      const garbled = Buffer.from(packed).fill(0x55, 2, packed.length - 2);
      const broken = await hear(way, service, { pieces: [garbled], coding });
      expectSentence(broken.error);
    },
  );

  test("F27: the format's end ends the answer on an open connection, which is then closed", async () => {
    await using service = await Service.open();
    const answer = await recorded(way);
    const whole = await hear(way, service, { pieces: [answer] });
    const before = service.connections;
    const heard = await hear(way, service, { pieces: [answer], last: "open" });
    expect(said(heard)).toBe(said(whole));
    await expect.poll(() => service.connections).toBeLessThanOrEqual(before);
  });

  test("F26: headers, comments and pings are life", async () => {
    await using service = await Service.open();
    const answer = await recorded(way);
    const pings = [": thinking\n\n", ": still thinking\n\n", ":\n\n"].map((text) => Buffer.from(text));
    const heard = await hear(way, service, { pieces: [...pings, answer], pause: 60 });
    expect(heard.error).toBeUndefined();
    expect(heard.life).toBeGreaterThanOrEqual(4);
  });

  test.each([301, 302, 307, 308])(
    "F34: the error for a redirect (%i) names the new address, which gets no key",
    async (status) => {
      await using service = await Service.open();
      const asked: (string | undefined)[] = [];
      const other = createServer((request, response) => {
        asked.push(request.url);
        response.end();
      }).listen(0, "127.0.0.1");
      await once(other, "listening");
      const there = `http://127.0.0.1:${(other.address() as AddressInfo).port}/new/v1`;
      const { error } = await hear(way, service, { status, location: `${there}?key=x`, type: "text/html" });
      other.close();
      expect(error).toMatchObject({ code: "invalid-request", status, retryable: false });
      expect(error?.message).toContain(there);
      expect(error?.message).not.toContain("key=x");
      expect(asked).toEqual([]);
    },
  );

  test("F29: a page for browsers becomes a sentence with its title, as an error and in place of an answer", async () => {
    await using service = await Service.open();
    const page = Buffer.from(`<!doctype html><title>502 Bad Gateway</title>${"<p>x".repeat(5000)}`);
    const refused = await hear(way, service, { pieces: [page], status: 502, type: "text/html", last: "open" });
    expectSentence(refused.error);
    expect(refused.error).toMatchObject({
      code: "provider",
      status: 502,
      message: expect.stringContaining("Bad Gateway"),
    });
    const answered = await hear(way, service, { pieces: [page], type: "text/html" });
    expectSentence(answered.error);
    expect(answered.error).toMatchObject({
      code: "invalid-request",
      message: expect.stringContaining("answers with"),
    });
  });

  test("F36: a line without an end, an answer without an end, and one nested without end, are errors of the model", async () => {
    await using service = await Service.open();
    const filler = Buffer.alloc(100_000, "x");
    const line = [Buffer.from('data: {"a":"'), ...Array<Buffer>(40).fill(filler)];
    const bounds = { line: 1_000_000, answer: 300_000, linger: 50 };
    const endless = await hear(way, service, { pieces: line, last: "open" }, bounds);
    expect(endless.error).toMatchObject({
      code: "provider",
      retryable: false,
      message: expect.stringMatching(/a line of more/),
    });
    const comments = Array<Buffer>(80).fill(Buffer.concat([Buffer.from(": "), filler, Buffer.from("\n")]));
    const long = await hear(way, service, { pieces: comments, last: "open" }, bounds);
    expect(long.error).toMatchObject({
      code: "provider",
      retryable: false,
      message: expect.stringMatching(/an answer of more/),
    });
    const bomb = gzipSync(Buffer.concat(comments));
    const packed = await hear(way, service, { pieces: [bomb], coding: "gzip", last: "open" }, bounds);
    expect(packed.error).toMatchObject({ code: "provider", retryable: false });
    const deep = Buffer.from(`data: {"error":${"[".repeat(200_000)}${"]".repeat(200_000)}}\n\n`);
    const nested = await hear(way, service, { pieces: [deep] });
    expect(nested.error).toMatchObject({
      code: "provider",
      retryable: false,
      message: expect.stringMatching(/nested/),
    });
  });
});

test("F27: a chat server without [DONE] and usage delays the end only a little", async () => {
  const [way] = ways;
  if (!way) throw new Error("There is no chat format.");
  await using service = await Service.open();
  const pieces = [Buffer.from(eventOf(chunk({ content: "Hi" })) + eventOf(chunk({}, "stop")))];
  const { parts, error } = await hear(way, service, { pieces, last: "open" });
  expect(error).toBeUndefined();
  expect(parts.map(({ type }) => type)).toEqual(["text", "finish"]);
});

test.each([
  ["chat", -5, 1e300],
  ["chat", "12", null],
  ["messages", -5, 1e300],
  ["messages", "12", null],
])("F30: usage that cannot be counts as none, on the wire of %s: %j and %j", async (kind, input, output) => {
  const format = formats.find(({ name }) => name === (kind === "chat" ? "OpenAI chat" : "Anthropic"));
  if (!format) throw new Error("There is no such format.");
  await using service = await Service.open();
  const pieces =
    kind === "chat"
      ? [{ ...chunk({ content: "Hi" }, "stop"), usage: { prompt_tokens: input, completion_tokens: output } }, "[DONE]"]
      : [
          { type: "message_start", message: { model: "m", usage: { input_tokens: input, output_tokens: 1 } } },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: output } },
          { type: "message_stop" },
        ];
  service.fault = { pieces: pieces.map((event) => Buffer.from(eventOf(event))) };
  const sink = new KeepingSink();
  const driver = await openAt(format, service.address);
  await driver.stream(say("Hello"), sink, new AbortController().signal);
  expect(sink.parts.at(-1)).toMatchObject({ type: "finish", usage: { input: 0, cached: 0 } });
  const { usage } = sink.parts.at(-1) as Extract<ModelPart, { type: "finish" }>;
  expect(Object.values(usage).every((count) => Number.isInteger(count) && count >= 0 && count < 1e9)).toBe(true);
});
