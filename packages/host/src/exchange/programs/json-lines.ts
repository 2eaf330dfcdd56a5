import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { pipeline, type Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { DirectiveError, type PlainPart, readUserContent, type UserPart } from "@banyan/core/conversation";
import { parseJson } from "../../settings/json-text.ts";

/** Counts content that an import must omit. Describes each kind of content to the user in one sentence. */
export class ImportOmissions {
  readonly #lines = new Map<string, number[]>();

  /** `what`: the start of a sentence, such as "a picture without its bytes". `line`: from 1. */
  note(what: string, line?: number): void {
    const lines = this.#lines.get(what) ?? [];
    this.#lines.set(what, lines);
    if (line !== undefined) lines.push(line);
  }

  /** Returns a user's file as a checked part (F75); omits a file that no message can hold. */
  userFile(file: PlainPart | UserPart, line?: number): readonly UserPart[] {
    try {
      return readUserContent([file]) ?? [];
    } catch (error) {
      if (!(error instanceof DirectiveError)) throw error;
      this.note("a file with another media type or other data than a message can hold", line);
      return [];
    }
  }

  /** A sentence per kind, with its first lines. */
  get told(): string[] {
    return [...this.#lines].map(([what, lines]) => {
      if (lines.length === 0) return what;
      const shown = lines.slice(0, SHOWN).join(", ");
      const more = lines.length > SHOWN ? ` and ${lines.length - SHOWN} more` : "";
      return `${what} (${lines.length === 1 ? "line" : "lines"} ${shown}${more})`;
    });
  }
}

const SHOWN = 5;

/** A line of a JSON Lines file. */
export interface JsonLine {
  readonly line: number;
  /** Byte offset of the end of the line. */
  readonly end: number;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Reads the JSON objects of a file, one per line, even of a `.zst` file. Rejects if the file cannot be read. */
export async function* jsonLines(file: string, left: ImportOmissions): AsyncGenerator<JsonLine> {
  let line = 0;
  let end = 0;
  for await (const text of createInterface({ input: openSessionFile(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    line++;
    end += Buffer.byteLength(text) + 1;
    if (text.trim() === "") continue;
    const read = parseJson(text);
    if (read.ok && typeof read.value === "object" && read.value !== null && !Array.isArray(read.value))
      yield { line, end, value: read.value as JsonLine["value"] };
    else left.note(read.ok ? "a line that is not an object" : `a damaged line: ${read.problem}`, line);
  }
}

function openSessionFile(file: string): Readable {
  const bytes = createReadStream(file);
  if (!file.endsWith(".zst")) return bytes;
  return pipeline(bytes, createZstdDecompress(), () => {});
}
