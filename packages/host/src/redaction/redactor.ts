import type { Environment } from "@banyan/models";
import { addressPasswords } from "./address-password.ts";
import { namedSecrets } from "./assignment.ts";
import { knownValues, openValue, secretsOf } from "./known-values.ts";
import { placeholder } from "./placeholder.ts";
import { openPrivateKey, privateKeys } from "./private-key.ts";
import { RedactingStream } from "./redacting-stream.ts";
import { knownFormats } from "./secret-formats.ts";
import { joinSpans, type Span } from "./span.ts";

/** Puts a placeholder, as in `[redacted:github-token]`, in the place of each secret in a text. Done again, it changes nothing more. */
export interface Redact {
  (text: string): string;
  /** For a text that comes in pieces. */
  stream(): RedactingStream;
}

/**
 * A function that takes secrets out of texts (S10): the values of variables that look like secrets, what is known by
 * its form (tokens of well-known services, private keys, JSON Web Tokens), passwords in addresses, and values that a text
 * itself calls a password or a key. Its time grows with the length of the text, whatever the text is.
 */
export function redactor({ env }: { readonly env: Environment }): Redact {
  const values = secretsOf(env);
  const find = (text: string): Span[] =>
    joinSpans([
      ...knownValues(text, values),
      ...privateKeys(text),
      ...knownFormats(text),
      ...addressPasswords(text),
      ...namedSecrets(text),
    ]);
  const open = (text: string): number | undefined => {
    const starts = [openPrivateKey(text), openValue(text, values)].filter((start) => start !== undefined);
    return starts.length > 0 ? Math.min(...starts) : undefined;
  };
  return Object.assign((text: string) => withoutSpans(text, find(text)), {
    stream: () => new RedactingStream({ find, open, replace: withoutSpans }),
  });
}

function withoutSpans(text: string, spans: readonly Span[]): string {
  let at = 0;
  let redacted = "";
  for (const { start, end, kind } of spans) {
    redacted += text.slice(at, start) + placeholder(kind);
    at = end;
  }
  return redacted + text.slice(at);
}
