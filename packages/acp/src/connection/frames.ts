import type { Readable, Writable } from "node:stream";
import { ReadableStream, WritableStream } from "node:stream/web";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk/unstable";
import { type Told, toldIn } from "./update.ts";

/** How an agent's output is read. */
export interface FrameOptions {
  /** Bytes of a line; one that is longer ends the reading with an error. */
  readonly longest: number;
  /** Told of each line that is no message: the agent, or something that it runs, writes where only messages belong. */
  readonly babble: (line: string) => void;
  /** Told of what the agent tells of a session. The next message is read when what it returns has resolved. */
  readonly told: (told: Told) => Promise<void>;
  /** Told of every other message, once who takes it has begun with it; the same holds. */
  readonly heard: () => Promise<void>;
  /** Told why nothing more is read although there is more: a line that is too long, or what `told` and `heard` reject with. */
  readonly broken: (error: unknown) => void;
}

const LINE_END = 0x0a;

/**
 * Messages of the protocol, one JSON object a line, over the streams of a process. Unlike the stream of the protocol's
 * package it passes over lines that are no messages, hands over what is told of a session in its order among all messages,
 * and reads no faster than what it reads is worked off.
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

/** The package says of whatever ends the reading that the connection was closed: why, is told apart. */
async function* readBy(output: Readable, options: FrameOptions): AsyncGenerator<AnyMessage> {
  try {
    yield* messagesOf(output, options);
  } catch (error) {
    options.broken(error);
    throw error;
  }
}

async function* messagesOf(
  output: Readable,
  { longest, babble, told, heard }: FrameOptions,
): AsyncGenerator<AnyMessage> {
  for await (const line of linesOf(output, longest)) {
    const message = messageIn(line);
    if (message === undefined) {
      if (line.trim() !== "") babble(line);
      continue;
    }
    const news = toldIn(message);
    if (news) {
      await told(news);
      continue;
    }
    yield message;
    await new Promise((resolve) => setImmediate(resolve));
    await heard();
  }
}

async function* linesOf(output: Readable, longest: number): AsyncGenerator<string> {
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

function messageIn(line: string): AnyMessage | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    const message = JSON.parse(line) as AnyMessage;
    return (message as { readonly jsonrpc?: unknown }).jsonrpc === "2.0" ? message : undefined;
  } catch {
    return undefined;
  }
}
