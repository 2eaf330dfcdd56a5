import type { Json } from "../part.ts";

/** Parses arguments that a model wrote: JSON, or JSON in a JSON string. `{}` for no text; undefined if invalid. */
export function writtenInput(text: string): Json | undefined {
  if (text.trim() === "") return {};
  if (isTooDeep(text)) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    if (typeof value !== "string") return value;
    if (value.trim() === "") return {};
    return isTooDeep(value) ? undefined : (JSON.parse(value) as Json);
  } catch {
    return undefined;
  }
}

/** Recursive readers use the stack for each level. */
const MOST = 500;

/**
 * True if JSON is nested so deeply that parsing or writing it could overflow the stack.
 * @example isTooDeep("[".repeat(10_000)) // true
 */
export function isTooDeep(json: string): boolean {
  if (json.length < 2 * MOST) return false;
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < json.length; index++) {
    const unit = json.charCodeAt(index);
    if (quoted) {
      if (unit === 0x5c) index++;
      else if (unit === 0x22) quoted = false;
    } else if (unit === 0x22) quoted = true;
    else if (unit === 0x7b || unit === 0x5b) {
      if (++depth > MOST) return true;
    } else if (unit === 0x7d || unit === 0x5d) depth--;
  }
  return false;
}
