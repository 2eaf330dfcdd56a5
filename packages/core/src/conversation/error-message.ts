/**
 * Returns a message for any thrown value: the message of an error, or else the value as text or JSON. Never throws.
 * @example errorMessage(new Error("No oak.")) // "No oak."
 */
export function errorMessage(error: unknown): string {
  try {
    if (typeof error !== "object" || error === null) return String(error);
    if ("message" in error) return String(error.message);
    const text = String(error);
    return text.startsWith("[object ") ? JSON.stringify(error) : text;
  } catch {
    return "something was thrown that cannot be written down";
  }
}
