type Header = (name: string) => string | undefined;

/** Headers with the time at which a limit has room again, and the remaining amount. */
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
 * Returns the milliseconds for which a response asks the client to wait, from `retry-after-ms` or `retry-after`.
 * Without these headers, returns the time until the rate limits allow a request again, but only if `limited` is true.
 */
export function delayAskedFor(header: Header, limited: boolean): number | undefined {
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

/** Larger numbers are times since 1970, in seconds or in milliseconds. */
const EPOCH_SECONDS = 1e9;
const EPOCH_MILLISECONDS = 1e12;

/** Parses a wait from a header: seconds, a time since 1970, a duration ("1m6.5s") or a date. */
function milliseconds(text = ""): number | undefined {
  const written = text.trim();
  if (/^\d+(\.\d+)?$/.test(written)) {
    const number = Number(written);
    if (number >= EPOCH_MILLISECONDS) return Math.max(0, Math.round(number - Date.now()));
    if (number >= EPOCH_SECONDS) return Math.max(0, Math.round(number * 1000 - Date.now()));
    return Math.round(number * 1000);
  }
  if (/^([\d.]+(ms|h|m|s))+$/i.test(written)) return readDuration(written);
  const date = Date.parse(written);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

const UNIT = "(?:milliseconds?|ms|minutes?|mins?|m|seconds?|secs?|s|hours?|hrs?|h|days?|d)(?![a-z])";
const AMOUNT = String.raw`\d[\d.]{0,15}\s?${UNIT}`;
const EVENT = "(?:again|retry|wait|resets?|renews?|available)";
/** "Please try again in 1m6.5s", "retry after 30 seconds", "resets in 3 days, 1 hour and 9 minutes". */
const IN = new RegExp(String.raw`\b${EVENT}\s+(?:in|after|for)\s+((?:${AMOUNT}[,\s]{0,3}(?:and\s)?){1,5})`, "i");
const MOMENT = String.raw`(?:${EVENT}|until|access)\s+(?:again\s)?(?:at\s|on\s|by\s)?\s?`;
/** "You will regain access on 2026-12-01 at 00:00 UTC", "resets at 2026-12-01T00:00:00Z". */
const ISO = new RegExp(
  String.raw`\b${MOMENT}(\d{4}-\d\d-\d\d)(?:(?:T|\s(?:at\s)?)(\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)?)?`,
  "i",
);
/** "try again at Dec 5th, 2026 3:14 PM". */
const ENGLISH = new RegExp(
  String.raw`\b${MOMENT}([a-z]{3,9}\.?\s\d{1,2})(?:st|nd|rd|th)?,?\s(\d{4})(?:,?\s(?:at\s)?(\d{1,2}:\d\d(?::\d\d)?\s?(?:[AP]M)?))?`,
  "i",
);
/** Claude's own clients: "usage limit reached|1796083200". */
const EPOCH = /limit reached\|(\d{10})\b/i;

/** Returns the waiting time in milliseconds that an error message names. Dates without a zone are read as UTC. */
export function delayInSentence(sentence: string): number | undefined {
  const found = IN.exec(sentence)?.[1];
  if (found !== undefined) return readDuration(found);
  const at = momentIn(sentence);
  return at !== undefined && at > Date.now() ? at - Date.now() : undefined;
}

function momentIn(sentence: string): number | undefined {
  const [, epoch] = EPOCH.exec(sentence) ?? [];
  if (epoch !== undefined) return Number(epoch) * 1000;
  const [, day, time = "00:00", zone = "Z"] = ISO.exec(sentence) ?? [];
  if (day !== undefined) return unlessNaN(Date.parse(`${day}T${time}${/UTC|GMT/i.test(zone) ? "Z" : zone}`));
  const [, date, year, hour = "00:00"] = ENGLISH.exec(sentence) ?? [];
  return date === undefined ? undefined : unlessNaN(Date.parse(`${date}, ${year} ${hour} UTC`));
}

function unlessNaN(number: number): number | undefined {
  return Number.isNaN(number) ? undefined : number;
}

function readDuration(text: string): number | undefined {
  const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
  let wait = 0;
  for (const [, count = "", unit = "s"] of text.matchAll(/([\d.]+)\s?(ms|milli|[a-z])/gi)) {
    const name = unit.toLowerCase();
    wait += Number.parseFloat(count) * units[(name === "milli" ? "ms" : name) as keyof typeof units];
  }
  return Number.isNaN(wait) ? undefined : Math.round(wait);
}
