import { createHash } from "node:crypto";
import { isStdio, type McpServerEntry, type StdioEntry } from "./entry.ts";
import { isPackageRunner } from "./package-runner.ts";
import { variablesIn } from "./variables.ts";

/**
 * Names exactly what an entry runs or speaks to: the program with its arguments, folder and variables as they are
 * written, or the address with its headers. Consent is given to this digest (SHA-256, hexadecimal), so that any change
 * asks again (S6); `timeout` and `disabled` change nothing of what happens.
 */
export function commandDigest(entry: McpServerEntry): string {
  const { timeout: _, disabled: __, ...exact } = entry;
  return createHash("sha256").update(canonical(exact)).digest("hex");
}

/**
 * What a person consents to, on one line: everything that `commandDigest` covers, and which variables of theirs the
 * server gets to see; of what a package runner starts, also where, since that decides what runs. Each text is quoted where
 * blanks or unusual characters would blur it.
 */
export function describeEntry(entry: McpServerEntry): string {
  const parts = isStdio(entry)
    ? [[entry.command, ...(entry.args ?? [])].map(quoted).join(" "), ...place(entry), ...pairs("with", entry.env)]
    : [quoted(entry.url), ...pairs("with", entry.headers), ...pairs("signing in with", entry.oauth)];
  const variables = variablesIn(entry);
  return [...parts, ...(variables.length === 0 ? [] : [`which gets your ${variables.join(", ")}`])].join(" ");
}

function place(entry: StdioEntry): string[] {
  const isRunner = isPackageRunner(entry);
  if (entry.cwd === undefined) return isRunner ? ["in the root folder"] : [];
  return [`in ${quoted(entry.cwd)}${isRunner ? ", where files say what runs," : ""}`];
}

function pairs(word: string, record: object | undefined): string[] {
  const entries = Object.entries(record ?? {});
  return entries.length === 0
    ? []
    : [`${word} ${entries.map(([key, value]) => `${quoted(key)}=${quoted(String(value))}`).join(" ")}`];
}

/** JSON's quotes write out control characters; those that only look empty are written out beside. */
function quoted(text: string): string {
  if (/^[\w@%+=:,./~${}-]+$/.test(text)) return text;
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** JSON with the keys of every object in order, so that the same entry always has the same text. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}
