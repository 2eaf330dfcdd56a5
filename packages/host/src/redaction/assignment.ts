import { ESCAPE } from "./secret-formats.ts";
import type { SecretSpan } from "./span.ts";

// Finds values that a text itself calls secrets: `api_key: ...`, `"password": "..."`, `Authorization: Bearer ...`. Many
// such values are names or code, so only values that look random count.

const NAME =
  "(?:api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|account[-_]?key|auth[-_]?key|secret|(?<!page[-_]?|sync[-_]?|next[-_]?|continuation[-_]?)token|passw(?:or)?d|passphrase|pwd|credential|[_-]auth|dsn)";
const VALUE = "[^\\s\"'`,;<>{}()\\[\\]\\\\]";

const ASSIGNMENT = new RegExp(
  `${NAME}([\\w-]{0,40})["'\`\\]]{0,2}[ \\t]{0,8}(?:=>|:=|[:=])[ \\t]{0,8}["'\`]?(${VALUE}{8,512})`,
  "gi",
);
// A line of .npmrc: its value is always a secret.
const REGISTRY = new RegExp(`:_(?:authToken|auth|password)[ \\t]{0,8}=[ \\t]{0,8}["']?(${VALUE}{8,512})`, "g");
const HEADER = new RegExp(`(?:\\b|${ESCAPE})(?:[Bb]earer|[Bb]asic|[Tt]oken)[ \\t]{1,4}(${VALUE}{16,4096})`, "g");

/** Endings of names whose values describe a secret, or only share its name. */
const ABOUT =
  /(?:expir\w*|ttl|type|kind|names?|ids?|ur[il]|path|files?|dirs?|count|size|length|limits?|index|algorithm|issuer|endpoint|policy|version|format|pattern|regexp?|prefix|suffix|field|header|at|s)$/i;

/** Values that refer to another place, or placeholders. */
const STAND_IN =
  /^[$%]|^[~.]{0,2}\/(?:[a-z]{2,}|Users)\/|\$\{|^(?:process\.env|os\.environ|env\.|secrets?\.|vars\.)|\bexample\b|your[-_]|change[-_]?me|(?-i:x{4}|X{4})|\*{3}|\.{3}/i;

/** Code if a parenthesis follows, as in `token = this$1.next()`. */
const METHOD = /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/;

/** Finds values that a text itself describes as secret. */
export function namedSecrets(text: string): SecretSpan[] {
  const assigned = Array.from(text.matchAll(ASSIGNMENT))
    .filter(([, ending = "", value = ""]) => !ABOUT.test(ending) && looksRandom(value))
    .filter(({ index, 0: { length }, 2: value = "" }) => text.charAt(index + length) !== "(" || !METHOD.test(value))
    .map((match) => atEnd(match, match[2], "secret"));
  const forRegistries = Array.from(text.matchAll(REGISTRY))
    .filter(([, value = ""]) => !STAND_IN.test(value))
    .map((match) => atEnd(match, match[1], "secret"));
  const sent = Array.from(text.matchAll(HEADER))
    .filter(([, value = ""]) => looksRandom(value))
    .map((match) => atEnd(match, match[1], "credential"));
  return [...assigned, ...forRegistries, ...sent];
}

function atEnd({ index, 0: whole }: RegExpExecArray, value = "", kind: string): SecretSpan {
  const end = index + whole.length;
  return { start: end - value.length, end, kind };
}

/** Entropy in bits per character: words and names stay below the first, long random texts reach the second. */
const ORDINARY = 3;
const RANDOM = 4.2;

/** True if a value looks generated, or like a password that a user made up. */
function looksRandom(value: string): boolean {
  if (STAND_IN.test(value) || !/[0-9]/.test(value) || !/[A-Za-z]/.test(value)) return false;
  const bits = entropy(value);
  return bits >= RANDOM || (bits >= ORDINARY && changesOfKind(value) >= 3);
}

/** Changes between letters, digits and signs, without hyphens, dots and slashes, which join words. */
function changesOfKind(value: string): number {
  const kinds = Array.from(value.replace(/[-_./:]/g, ""), (character) =>
    /[A-Za-z]/.test(character) ? "letter" : /[0-9]/.test(character) ? "digit" : "sign",
  );
  return kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
}

function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  return -[...counts.values()].reduce(
    (sum, count) => sum + (count / value.length) * Math.log2(count / value.length),
    0,
  );
}
