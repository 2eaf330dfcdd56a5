import type { EnvironmentVariables } from "@banyan/models";
import { namedSecrets } from "./assignment.ts";
import { bareKeys, openKeyLines } from "./bare-key.ts";
import { knownValues, openValue, secretsOf } from "./known-values.ts";
import { openPrivateKey, privateKeys } from "./private-key.ts";
import { RedactingStream } from "./redacting-stream.ts";
import { knownFormats } from "./secret-formats.ts";
import { SeenKeys } from "./seen-keys.ts";
import { joinSpans, placeholder, type SecretSpan } from "./span.ts";

/** Replaces each secret in a text by a placeholder such as `[redacted:github-token]`. Idempotent. */
export interface Redact {
  (text: string): string;
  /** For a text that arrives in pieces. */
  stream(): RedactingStream;
  /** Watches a text in pieces before it is cut (S22), so that later pieces of its private keys are recognized. */
  watch(): (piece: string) => void;
}

/**
 * Makes a function that removes secrets from texts (S10): values of variables that look like secrets, known formats
 * (tokens, private keys), passwords in addresses, and values that the text itself describes as secret. After a whole
 * private key, it also recognizes pieces of this key (S22). Takes linear time.
 * @example redactor({ env: { DEPLOY_TOKEN: "oak-elm-2301-ash" } })("It is oak-elm-2301-ash.")
 */
export function redactor({ env }: { readonly env: EnvironmentVariables }): Redact {
  const values = secretsOf(env);
  const seen = new SeenKeys();
  for (const { text } of values) if (text.includes("PRIVATE KEY")) seen.add(text);
  const keysOf = (text: string): SecretSpan[] => {
    const keys = [...privateKeys(text), ...bareKeys(text)];
    for (const { start, end } of keys) seen.add(text.slice(start, end));
    return keys;
  };
  const find = (text: string): SecretSpan[] =>
    joinSpans([
      ...knownValues(text, values),
      ...keysOf(text),
      ...seen.find(text),
      ...knownFormats(text),
      ...addressPasswords(text),
      ...namedSecrets(text),
    ]);
  const open = (text: string): number | undefined => {
    const starts = [openPrivateKey(text), openKeyLines(text), openValue(text, values)].filter(
      (start) => start !== undefined,
    );
    return starts.length > 0 ? Math.min(...starts) : undefined;
  };
  return Object.assign((text: string) => withoutSpans(text, find(text)), {
    stream: () => new RedactingStream({ find, open, replace: withoutSpans }),
    watch: () => watching(keysOf),
  });
}

/** Characters per scan. Longer than a key, so that a scan contains each key fully or nearly. */
const LOOK = 64 * 1024;

/** Consecutive scans overlap by the length of a key. */
function watching(look: (text: string) => unknown): (piece: string) => void {
  let held = "";
  return (piece) => {
    held += piece;
    look(held);
    if (held.length > LOOK) held = held.slice(-LOOK / 4);
  };
}

function withoutSpans(text: string, spans: readonly SecretSpan[]): string {
  let at = 0;
  let redacted = "";
  for (const { start, end, kind } of spans) {
    redacted += text.slice(at, start) + placeholder(kind);
    at = end;
  }
  return redacted + text.slice(at);
}

const SCHEME = /[A-Za-z][A-Za-z0-9+.-]{1,30}$/;
const USER_INFO = /([^\s:/?#@"'`<>]{0,256}):([^\s/?#@"'`<>]{3,512})@(?=[^\s@])/y;

/** Values in examples, and placeholders. */
const STAND_IN =
  /^(?:pass|passwd|password|pwd|secret|token|user|username|root|admin|guest|test|example|changeme|postgres|mysql|x+|\*+|\.+)$|\$\{|\{\{|^[$%{[<]/i;

/** In addresses with a user name, as in `postgres://app:...@db/app`. */
function addressPasswords(text: string): SecretSpan[] {
  const found: SecretSpan[] = [];
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at + 3)) {
    if (!SCHEME.test(text.slice(Math.max(0, at - 31), at))) continue;
    USER_INFO.lastIndex = at + 3;
    const match = USER_INFO.exec(text);
    if (!match) continue;
    const [whole, user = "", password = ""] = match;
    const start = at + 3 + user.length + 1;
    // In this form of GitHub's, the user name is the token.
    if (password === "x-oauth-basic")
      found.push({ start: at + 3, end: at + 3 + whole.length - 1, kind: "github-token" });
    else if (!STAND_IN.test(password)) found.push({ start, end: start + password.length, kind: "password" });
  }
  return found;
}
