import type { Readable, Writable } from "node:stream";
import { ReadableStream, WritableStream } from "node:stream/web";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk/unstable";
import { isJsonRecord, parseJsonText } from "@banyan/core/shown";
import { type AgentUpdate, readAgentUpdate } from "./update.ts";

/** Options of {@link frames}. Reading waits for the promises that the handlers return. */
export interface FrameOptions {
  /** Maximum bytes of a line. A longer line ends the reading with an error. */
  readonly longest: number;
  /** Called with each line that is not a message: output of the agent, or of a process that the agent runs. */
  readonly babble: (line: string) => void;
  /** Called with each session update. */
  readonly onUpdate: (update: AgentUpdate) => Promise<void>;
  /** Called after each message that is not a session update, as soon as the handler of the message has started. */
  readonly heard: () => Promise<void>;
  /**
   * Called with the error that ends the reading early: a line that is too long, or a rejection of `onUpdate` or
   * `heard`.
   */
  readonly broken: (error: unknown) => void;
}

const LINE_END = 0x0a;

/**
 * Connects protocol streams to the input and output of a process, with one JSON object per line. Unlike the protocol
 * package's stream, skips lines that are not messages, and delivers session updates in order with all other messages.
 */
export function frames(input: Writable, output: Readable, options: FrameOptions): Stream {
  return {
    readable: ReadableStream.from(readBy(output, options)) as Stream["readable"],
    writable: new WritableStream<AnyMessage>({
      write: (message) =>
        new Promise((resolve, reject) => {
          input.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
        }),
    }),
  };
}

/** The protocol's package reports every end of the reading as a closed connection, so `broken` receives the cause. */
async function* readBy(output: Readable, options: FrameOptions): AsyncGenerator<AnyMessage> {
  try {
    yield* readMessages(output, options);
  } catch (error) {
    options.broken(error);
    throw error;
  }
}

async function* readMessages(
  output: Readable,
  { longest, babble, onUpdate, heard }: FrameOptions,
): AsyncGenerator<AnyMessage> {
  for await (const line of readLines(output, longest)) {
    const message = parseFrameLine(line);
    if (message === undefined) {
      if (line.trim() !== "") babble(line);
      continue;
    }
    const news = readAgentUpdate(message);
    if (news) {
      await onUpdate(news);
      continue;
    }
    yield message;
    await new Promise((resolve) => setImmediate(resolve));
    await heard();
  }
}

async function* readLines(output: Readable, longest: number): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_END); at !== -1; at = chunk.indexOf(LINE_END, from)) {
      pieces.push(chunk.subarray(from, at));
      yield Buffer.concat(pieces).toString("utf8");
      pieces = [];
      length = 0;
      from = at + 1;
    }
    if (from === chunk.length) continue;
    pieces.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > longest) throw new RangeError(`it wrote a line of more than ${longest / 1024 / 1024} MiB`);
  }
  if (length > 0) yield Buffer.concat(pieces).toString("utf8");
}

function parseFrameLine(line: string): AnyMessage | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  const message = parseJsonText(line);
  return isJsonRecord(message) && message.jsonrpc === "2.0" ? (message as AnyMessage) : undefined;
}
