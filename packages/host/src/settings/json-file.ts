import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { readFileStart } from "../places/read-file.ts";
import { SettingsError, type SettingsFault } from "./fault.ts";
import { type JsonPlaces, parseJson } from "./json-text.ts";

/** The content of a JSON file, or why it cannot be read. */
export type JsonFile =
  | { readonly state: "absent" }
  | { readonly state: "read"; readonly value: unknown; readonly text: string; readonly places: JsonPlaces }
  | { readonly state: "faulty"; readonly fault: SettingsFault };

/** Maximum bytes. Larger files are not written by hand. */
const LARGEST = 1024 * 1024;

/** Reads and parses a JSON file. Duplicate names in an object are a fault. Never throws. */
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
    // A parser takes the last duplicate, so a rule in the first would be silently lost.
    const name = String(repeated.path.at(-1));
    return faulty({ ...repeated.at, problem: `'${name}' is there twice`, advice: "merge both into one" });
  }
  return { state: "read", value: parsed.value, text, places: parsed.places };
}

/**
 * Replaces a JSON file atomically, and keeps the indentation. New files and folders are for the user only. A link
 * stays, and its target is replaced. Throws a `SettingsError` if the file cannot be written, which keeps the old
 * content.
 */
export function replaceJsonFile(file: string, value: unknown, before = ""): void {
  const target = resolvedFile(file);
  const [, indent = "  "] = /^\s*\{\r?\n([ \t]+)/.exec(before) ?? [];
  const temporary = `${target}.${randomUUID()}.tmp`;
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    const handle = openSync(temporary, "wx", 0o600);
    using undo = new DisposableStack();
    undo.defer(() => rmSync(temporary, { force: true }));
    try {
      writeFileSync(handle, `${JSON.stringify(value, undefined, indent)}\n`);
      // Without this, a power cut could leave an empty file.
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, target);
  } catch (cause) {
    throw new SettingsError({ source: file, ...whyNotWritten(cause) }, { cause });
  }
}

function whyNotWritten(error: unknown): Pick<SettingsFault, "problem" | "advice"> {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT")
    return { problem: "there is no room left on the disk", advice: "free some space and try again" };
  return { problem: `it cannot be written (${message})`, advice: "expected a file that this user may write" };
}

function resolvedFile(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // There is no file yet.
    return file;
  }
}
