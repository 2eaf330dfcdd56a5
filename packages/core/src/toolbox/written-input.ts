import type { Json } from "../conversation/message.ts";
import { isTooDeep } from "../model/depth.ts";

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
    return isTooDeep(value) ? undefined : (JSON.parse(value) as Json);
  } catch {
    // Not JSON: the call gets a result that says so.
    return undefined;
  }
}
