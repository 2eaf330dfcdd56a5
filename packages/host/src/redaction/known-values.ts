import type { EnvironmentVariables } from "@banyan/models";
import { holdsSecret } from "@banyan/tools/workspace";
import type { SecretSpan } from "./span.ts";

/** A secret whose exact text is known. */
export interface KnownValue {
  /** The name of the variable that contains the secret. */
  readonly name: string;
  readonly text: string;
}

/** Minimum characters: shorter values may be ordinary words. */
const SHORTEST = 8;
const PASSWORD_IN_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:([^/\s@]+)@/i;

/** Returns the values of variables that look like secrets, also as written in JSON and URLs, without short values. */
export function secretsOf(env: EnvironmentVariables): KnownValue[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || !holdsSecret(name, value)) return [];
    const [, password] = PASSWORD_IN_ADDRESS.exec(value) ?? [];
    const secret = (password ?? value).trim();
    if (!isTellingValue(secret)) return [];
    const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
    return [...new Set(forms)].map((text) => ({ name, text }));
  });
}

function isTellingValue(value: string): boolean {
  if (value.length < SHORTEST || /^[0-9.]+$/.test(value)) return false;
  if (/^(?:[~.]{0,2}\/|[A-Za-z]:\\|[a-z]+:\/\/)/.test(value)) return false;
  return !/^[A-Za-z_-]+$/.test(value) || value.length >= 20;
}

/** Finds known values in a text. */
export function knownValues(text: string, values: readonly KnownValue[]): SecretSpan[] {
  return values.flatMap(({ name, text: value }) => {
    const found: SecretSpan[] = [];
    for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length))
      found.push({ start: at, end: at + value.length, kind: name });
    return found;
  });
}

/** Returns the index at which a known value of several words may begin, at the end of an incomplete text. */
export function openValue(text: string, values: readonly KnownValue[]): number | undefined {
  const starts = values
    .filter(({ text: value }) => /\s/.test(value))
    .flatMap(({ text: value }) => {
      for (let length = Math.min(value.length - 1, text.length); length > 0; length -= 1)
        if (text.endsWith(value.slice(0, length))) return [text.length - length];
      return [];
    });
  return starts.length > 0 ? Math.min(...starts) : undefined;
}
