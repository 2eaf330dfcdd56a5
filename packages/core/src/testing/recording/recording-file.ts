import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { errorMessage } from "../../conversation/error-message.ts";
import type { Json } from "../../conversation/part.ts";
import { isJsonRecord } from "../../conversation/shape-problem.ts";

/** One request with its response. Secrets are `*`. */
export interface RecordedExchange {
  readonly request: RecordedRequest;
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: readonly RecordedChunk[];
    /** `cut`: the connection failed. `aborted`: the caller ended the request. Absent: the response is whole. */
    readonly end?: "cut" | "aborted";
  };
}

export interface RecordedRequest {
  readonly method: string;
  /** Path and query, without the host. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or the text of any other body. `null`: no body. */
  readonly body: Json;
}

/** One read of the network: its milliseconds after the previous read, and its bytes. */
export type RecordedChunk =
  | { readonly after: number; readonly text: string }
  | { readonly after: number; readonly base64: string };

const VERSION = 1;

export function chunkOf(bytes: Buffer, after: number): RecordedChunk {
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? { after, text } : { after, base64: bytes.toString("base64") };
}

export function bytesOf(chunk: RecordedChunk): Buffer {
  return "text" in chunk ? Buffer.from(chunk.text) : Buffer.from(chunk.base64, "base64");
}

export function pathOf(file: string | URL): string {
  return typeof file === "string" ? file : fileURLToPath(file);
}

/** Returns the exchanges of a file; `undefined` if there is no file. Throws an `Error` for a file of another kind. */
export function readRecording(path: string): readonly RecordedExchange[] | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const recording: unknown = JSON.parse(text);
    if (isJsonRecord(recording) && recording.version === VERSION && Array.isArray(recording.exchanges))
      return recording.exchanges as unknown as RecordedExchange[];
  } catch (error) {
    const said = `${path} is not JSON (${errorMessage(error)}). Record it again with BANYAN_RECORD=1.`;
    throw new Error(said, { cause: error });
  }
  throw new Error(`${path} is no recording of version ${VERSION}. Record it again with BANYAN_RECORD=1.`);
}

/** Replaces the file as a whole. */
export function writeRecording(path: string, exchanges: readonly RecordedExchange[]): void {
  mkdirSync(dirname(path), { recursive: true });
  const unfinished = `${path}.unfinished`;
  writeFileSync(unfinished, `${JSON.stringify({ version: VERSION, exchanges }, null, 2)}\n`);
  renameSync(unfinished, path);
}
