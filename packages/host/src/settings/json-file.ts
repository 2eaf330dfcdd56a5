import { randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { nearest } from "@banyan/core";
import type { z } from "zod";

/** What is wrong with a file, where in it, and what should stand there. */
export interface FileFault {
  readonly file: string;
  /** The line and column, or the name of the entry (`permissions.allow[2]`); undefined when it is the file as a whole. */
  readonly where: string | undefined;
  readonly problem: string;
  readonly expected: string;
}

/** The content of a JSON file; `absent` when there is no file. */
export type JsonFile =
  | { readonly state: "absent" }
  | { readonly state: "read"; readonly value: unknown }
  | { readonly state: "faulty"; readonly fault: FileFault };

/** Reads and parses a JSON file. Throws nothing. */
export function readJsonFile(file: string): JsonFile {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    if (code === "ENOENT") return { state: "absent" };
    return {
      state: "faulty",
      fault: { file, where: undefined, problem: `it cannot be read (${code})`, expected: "a file that can be read" },
    };
  }
  const parsed = parseJson(text);
  if (parsed.ok) return { state: "read", value: parsed.value };
  const { where, problem } = parsed;
  return { state: "faulty", fault: { file, where, problem, expected: "JSON without comments or trailing commas" } };
}

/** The value of a JSON text, or where it breaks. A byte order mark is passed over. Throws nothing. */
export function parseJson(
  text: string,
):
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly where: string; readonly problem: string } {
  try {
    return { ok: true, value: JSON.parse(text.replace(/^\uFEFF/, "")) };
  } catch {
    // The parser does not always tell where it stopped, so the place is looked for below.
    const at = breakOf(text);
    const before = text.slice(0, at).split("\n");
    const where = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    const problem = at >= text.length ? "the JSON ends too early" : `the JSON breaks at ${JSON.stringify(text[at])}`;
    return { ok: false, where, problem };
  }
}

/** Checks a value against a schema whose messages say what is expected; the first thing that is wrong, or undefined. */
export function faultIn(
  file: string,
  value: unknown,
  schema: z.ZodType,
  keysAt: (path: readonly PropertyKey[]) => readonly string[],
): FileFault | undefined {
  const issue = schema.safeParse(value).error?.issues[0];
  if (issue === undefined) return undefined;
  const path = nameOf(issue.path);
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const known = keysAt(issue.path);
    const meant = nearest(key, known);
    const expected = meant.length > 0 ? meant.map((name) => `'${name}'`).join(" or ") : `one of ${known.join(", ")}`;
    return { file, where: path || undefined, problem: `'${key}' is not known`, expected };
  }
  if (issue.code === "invalid_key") {
    const name = String(issue.path.at(-1));
    const within = nameOf(issue.path.slice(0, -1));
    return {
      file,
      where: within,
      problem: `found the name '${name}'`,
      expected: issue.issues[0]?.message ?? "another",
    };
  }
  const found = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
  return {
    file,
    where: path || undefined,
    problem: `found ${JSON.stringify(found)?.slice(0, 80) ?? "nothing"}`,
    expected: issue.message,
  };
}

/** One sentence for a fault. */
export function describeFault({ file, where, problem, expected }: FileFault): string {
  return `${file}: ${where === undefined ? "" : `${where}: `}${problem}; expected ${expected}.`;
}

/**
 * Replaces a JSON file as a whole: readers see the old content or the new. The file and folders that are made are for
 * the user alone. A link in its place stays, and what it leads to is replaced.
 */
export function replaceJsonFile(file: string, value: unknown): void {
  const target = targetOf(file);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const temporary = `${target}.${randomUUID()}.tmp`;
  const handle = openSync(temporary, "wx", 0o600);
  try {
    try {
      writeFileSync(handle, `${JSON.stringify(value, undefined, 2)}\n`);
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

function nameOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (name, key) => (typeof key === "number" ? `${name}[${key}]` : name === "" ? String(key) : `${name}.${String(key)}`),
    "",
  );
}

/** Where a text stops being the beginning of any JSON, by halving: every shorter beginning only lacks its end. */
function breakOf(text: string): number {
  let fine = 0;
  let broken = text.length + 1;
  while (broken - fine > 1) {
    const middle = (fine + broken) >> 1;
    if (couldGoOn(text.slice(0, middle))) fine = middle;
    else broken = middle;
  }
  return fine;
}

function couldGoOn(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    return (
      /end of JSON input|Unterminated string/.test(message) || message.includes(`at position ${beginning.length} `)
    );
  }
}
