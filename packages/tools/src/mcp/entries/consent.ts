import { createHash } from "node:crypto";
import { isStdio, type McpServerEntry, type StdioEntry } from "./entry.ts";
import { isPackageRunner } from "./package-runner.ts";
import { entryVariables } from "./variables.ts";

/**
 * Returns a digest (SHA-256, hexadecimal) of the parts of an entry to which the user consents. For a program: its
 * arguments, folder and variables as written. For an address: the address and its headers. Any change of these needs a
 * new consent (S6). The digest does not cover `timeout` and `disabled`.
 * @example
 * commandDigest({ command: "notes-server" }) === commandDigest({ command: "notes-server", timeout: 5_000 }) // true
 */
export function commandDigest(entry: McpServerEntry): string {
  const { timeout: _, disabled: __, ...exact } = entry;
  return createHash("sha256").update(canonical(exact)).digest("hex");
}

/**
 * Describes on one line what the user consents to: everything that `commandDigest` covers, and the user's variables
 * that the server gets. For a package runner (`npx`, ...), names the folder too, because the folder decides which
 * program runs. Texts with blanks or unusual characters are quoted.
 * @example describeEntry({ command: "notes-server", args: ["--read-only"] }) // "notes-server --read-only"
 */
export function describeEntry(entry: McpServerEntry): string {
  const parts = isStdio(entry)
    ? [
        [entry.command, ...(entry.args ?? [])].map(quoteForConsent).join(" "),
        ...place(entry),
        ...recordWords("with", entry.env),
      ]
    : [
        quoteForConsent(entry.url),
        ...recordWords("with", entry.headers),
        ...recordWords("signing in with", entry.oauth),
      ];
  const variables = entryVariables(entry);
  return [...parts, ...(variables.length === 0 ? [] : [`with access to your ${variables.join(", ")}`])].join(" ");
}

function place(entry: StdioEntry): string[] {
  const isRunner = isPackageRunner(entry);
  if (entry.cwd === undefined) return isRunner ? ["in the root folder"] : [];
  return [`in ${quoteForConsent(entry.cwd)}${isRunner ? ", whose files decide what runs," : ""}`];
}

function recordWords(word: string, record: object | undefined): string[] {
  const entries = Object.entries(record ?? {});
  return entries.length === 0
    ? []
    : [
        `${word} ${entries.map(([key, value]) => `${quoteForConsent(key)}=${quoteForConsent(String(value))}`).join(" ")}`,
      ];
}

/** JSON escapes only control characters. All other characters outside ASCII are escaped too: some of them are invisible. */
function quoteForConsent(text: string): string {
  if (/^[\w@%+=:,./~${}-]+$/.test(text)) return text;
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}
