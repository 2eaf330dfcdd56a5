import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { pipeline, type Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { DirectiveError, type PlainPart, readUserContent, type UserPart } from "@banyan/core/conversation";
import { parseJson } from "../../settings/json-text.ts";

/** Counts what a reader cannot take, so that a person is told once of what is there a hundred times. */
export class Left {
  readonly #lines = new Map<string, number[]>();

  /** `what` is the beginning of a sentence, as in "a picture without its bytes"; `line` where it stands, from 1. */
  note(what: string, line?: number): void {
    const lines = this.#lines.get(what) ?? [];
    this.#lines.set(what, lines);
    if (line !== undefined) lines.push(line);
  }

  /** Returns a file that a user sent, as a checked part (F75). Notes a file that no message can hold, and leaves it out. */
  userFile(file: PlainPart | UserPart, line?: number): readonly UserPart[] {
    try {
      return readUserContent([file]) ?? [];
    } catch (error) {
      if (!(error instanceof DirectiveError)) throw error;
      this.note("a file with another media type or other data than a message can hold", line);
      return [];
    }
  }

  /** One sentence for each kind, with the first lines where it stands. */
  get told(): string[] {
    return [...this.#lines].map(([what, lines]) => {
      if (lines.length === 0) return what;
      const shown = lines.slice(0, SHOWN).join(", ");
      const more = lines.length > SHOWN ? ` and ${lines.length - SHOWN} more` : "";
      return `${what} (${lines.length === 1 ? "line" : "lines"} ${shown}${more})`;
    });
  }
}

/** Lines that a sentence names. */
const SHOWN = 5;

/** An object of a file that has one on each line, and the number of the line, from 1. */
export interface JsonLine {
  readonly line: number;
  /** Bytes of the file up to the end of the line. */
  readonly end: number;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * Reads the JSON objects of a file, one a line, also of a compressed file (`.zst`). A line that holds none is noted, and the
 * others are read. Rejects when the file cannot be read.
 */
export async function* jsonLines(file: string, left: Left): AsyncGenerator<JsonLine> {
  let line = 0;
  let end = 0;
  for await (const text of createInterface({ input: opened(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    line++;
    end += Buffer.byteLength(text) + 1;
    if (text.trim() === "") continue;
    const read = parseJson(text);
    if (read.ok && typeof read.value === "object" && read.value !== null && !Array.isArray(read.value))
      yield { line, end, value: read.value as JsonLine["value"] };
    else left.note(read.ok ? "a line that is not an object" : `a damaged line: ${read.problem}`, line);
  }
}

function opened(file: string): Readable {
  const bytes = createReadStream(file);
  if (!file.endsWith(".zst")) return bytes;
  // What goes wrong is heard of by whoever reads the lines.
  return pipeline(bytes, createZstdDecompress(), () => {});
}
