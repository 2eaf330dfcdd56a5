import type { Json } from "./message.ts";

/**
 * The arguments that a model wrote: JSON, JSON in a JSON string, or nothing at all for a tool without arguments. Nothing
 * when that is not JSON, or cannot be taken. A provider is shown them again as they are; what a tool gets was checked.
 */
export function writtenInput(text: string): Json | undefined {
  if (text.trim() === "") return {};
  if (isTooDeep(text)) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    if (typeof value !== "string") return value;
    if (value.trim() === "") return {};
    return isTooDeep(value) ? undefined : (JSON.parse(value) as Json);
  } catch {
    // Not JSON: the call gets a result that says so.
    return undefined;
  }
}

/**
 * Levels of nesting that are read. Whatever walks through a value may need the stack for each of them.
 */
const MOST = 500;

/** Whether JSON is nested deeper than anybody means it: what would read it, or write it again, would break the stack. */
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
