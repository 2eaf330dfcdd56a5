import { fstatSync } from "node:fs";
import { addAbortSignal } from "node:stream";
import { UsageError } from "../program/problem.ts";

const MEGABYTE = 1024 * 1024;

const MOST_INPUT = 10;

/** Milliseconds to wait for the first byte from a socket if there is a prompt argument. */
const PATIENCE = 3_000;

export interface InputOptions {
  readonly stream: typeof process.stdin;
  /** True if there is a prompt argument. */
  readonly optional: boolean;
  readonly signal: AbortSignal;
  notice(sentence: string): void;
}

/**
 * Reads standard input as text (T34). Returns an empty text if standard input is a terminal or empty. Rejects with
 * `UsageError` as soon as the input is too long or not text, or with the signal's reason.
 */
export async function readStandardInput({ stream, optional, signal, notice }: InputOptions): Promise<string> {
  const kind = fstatSync(stream.fd);
  if (stream.isTTY || kind.isCharacterDevice()) return "";
  // A parent program often leaves a socket open without writing to it; a shell's pipe always ends.
  const patience = optional && kind.isSocket() ? PATIENCE : undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  let silent = false;
  const giveUp = () => {
    silent = length === 0;
    if (silent) stream.destroy();
  };
  const timer = patience === undefined ? undefined : setTimeout(giveUp, patience);
  try {
    for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Buffer>) {
      length += chunk.length;
      checkChunk(chunk, length);
      chunks.push(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!silent) throw error;
    notice(`Nothing came from standard input within ${PATIENCE / 1000} s. Continuing without it.`);
  } finally {
    clearTimeout(timer);
  }
  const bytes = Buffer.concat(chunks);
  const text = new TextDecoder().decode(bytes);
  if (text.includes("\ufffd") && !bytes.includes("\ufffd")) {
    notice("Some bytes of standard input are not UTF-8. Banyan replaces each of them by \ufffd.");
  }
  return text;
}

function checkChunk(chunk: Buffer, length: number): void {
  if (chunk.includes(0)) {
    throw new UsageError("Standard input is not text: it has null bytes. Name the file in the prompt instead.");
  }
  if (length > MOST_INPUT * MEGABYTE) {
    throw new UsageError(
      `Standard input is longer than ${MOST_INPUT} MB. Send a part of it, or name the file in the prompt.`,
    );
  }
}
