import { randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { readFileStart } from "../places/read-file.ts";
import type { SettingsFault } from "./fault.ts";
import { type JsonPlaces, parseJson } from "./json-text.ts";

/** The content of a JSON file; `absent` when there is no file. */
export type JsonFile =
  | { readonly state: "absent" }
  | { readonly state: "read"; readonly value: unknown; readonly text: string; readonly places: JsonPlaces }
  | { readonly state: "faulty"; readonly fault: SettingsFault };

/** Bytes. What is larger was not written by hand. */
const LARGEST = 1024 * 1024;

/** Reads and parses a JSON file. Names that stand in an object twice are a fault. Throws nothing. */
export function readJsonFile(file: string): JsonFile {
  const faulty = (fault: Omit<SettingsFault, "source">): JsonFile => ({
    state: "faulty",
    fault: { source: file, ...fault },
  });
  const read = readFileStart(file, LARGEST);
  if (read.state === "absent") return read;
  if (read.state === "unreadable") return faulty({ problem: read.problem, advice: "expected a file that can be read" });
  if (read.size > LARGEST)
    return faulty({ problem: `it has ${read.size} bytes`, advice: `expected at most ${LARGEST}` });
  const text = read.bytes.toString("utf8");
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const { at, problem } = parsed;
    return faulty({ ...at, problem, advice: "expected JSON without comments or trailing commas" });
  }
  const [repeated] = parsed.places.repeated;
  if (repeated) {
    // A parser takes the last one, so that a rule in the first would be gone without a word.
    const name = String(repeated.path.at(-1));
    return faulty({ ...repeated.at, problem: `'${name}' is there twice`, advice: "merge both into one" });
  }
  return { state: "read", value: parsed.value, text, places: parsed.places };
}

/**
 * Replaces a JSON file as a whole: readers see the old content or the new. The file and folders that are made are for
 * the user alone. A link in its place stays, and what it leads to is replaced. Lines are indented as they were.
 */
export function replaceJsonFile(file: string, value: unknown, before = ""): void {
  const target = targetOf(file);
  const [, indent = "  "] = /^\s*\{\r?\n([ \t]+)/.exec(before) ?? [];
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const temporary = `${target}.${randomUUID()}.tmp`;
  const handle = openSync(temporary, "wx", 0o600);
  try {
    try {
      writeFileSync(handle, `${JSON.stringify(value, undefined, indent)}\n`);
      // Without this a power cut could leave the name with an empty file behind it.
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, target);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
}

function targetOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // There is no file yet: it is made under the name that was given.
    return file;
  }
}
