type Header = (name: string) => string | undefined;

/** Where providers tell when a limit has room again, and what is left of it. */
const RESETS: readonly (readonly [reset: string, remaining: string])[] = [
  // OpenAI, Groq, Cerebras, Mistral: "1s", "6m0s".
  ["x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"],
  ["x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"],
  // Anthropic: a date (https://docs.claude.com/en/api/rate-limits).
  ["anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"],
  ["anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"],
  ["anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"],
  ["anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"],
  // OpenRouter, GitHub and others: seconds, or a time since 1970 in seconds or milliseconds.
  ["x-ratelimit-reset", "x-ratelimit-remaining"],
  // https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers
  ["ratelimit-reset", "ratelimit-remaining"],
];

/**
 * Milliseconds that a response asks to wait: `retry-after-ms`, else `retry-after` in seconds or as a date, else, where it
 * is `limited`, when the limits that are used up have room again.
 */
export function waitAskedIn(header: Header, limited: boolean): number | undefined {
  const exact = Number.parseFloat(header("retry-after-ms") ?? "");
  if (exact >= 0 && Number.isFinite(exact)) return Math.round(exact);
  const asked = milliseconds(header("retry-after"));
  if (asked !== undefined || !limited) return asked;
  const resets = RESETS.flatMap(([reset, remaining]) => {
    const wait = milliseconds(header(reset));
    return wait === undefined ? [] : [{ wait, usedUp: Number.parseFloat(header(remaining) ?? "") <= 0 }];
  });
  const usedUp = resets.filter((one) => one.usedUp).map(({ wait }) => wait);
  if (usedUp.length > 0) return Math.max(...usedUp);
  return resets.length > 0 ? Math.min(...resets.map(({ wait }) => wait)) : undefined;
}

/** From here on a number is a time since 1970: so many seconds, or milliseconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MILLISECONDS = 1e12;

/** A wait as headers write it: seconds, a time since 1970, a duration ("1m6.5s") or a date. */
function milliseconds(text = ""): number | undefined {
  const written = text.trim();
  if (/^\d+(\.\d+)?$/.test(written)) {
    const number = Number(written);
    if (number >= EPOCH_MILLISECONDS) return Math.max(0, Math.round(number - Date.now()));
    if (number >= EPOCH_SECONDS) return Math.max(0, Math.round(number * 1000 - Date.now()));
    return Math.round(number * 1000);
  }
  if (/^([\d.]+(ms|h|m|s))+$/i.test(written)) return duration(written);
  const date = Date.parse(written);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Milliseconds in a sentence such as "Please try again in 1m6.5s", for want of a header. */
export function waitIn(message: unknown): number | undefined {
  const found = typeof message === "string" ? /try again in ((?:[\d.]+(?:ms|h|m|s))+)/i.exec(message)?.[1] : undefined;
  return found === undefined ? undefined : duration(found);
}

function duration(text: string): number | undefined {
  const units = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
  let wait = 0;
  for (const [, count = "", unit = "s"] of text.matchAll(/([\d.]+)(ms|h|m|s)/gi)) {
    wait += Number.parseFloat(count) * units[unit.toLowerCase() as keyof typeof units];
  }
  return Number.isNaN(wait) ? undefined : Math.round(wait);
}
