import { isRecord } from "./json.ts";

/** Wire formats of which provider packages read the answers. */
export type PackageFormat = "chat" | "messages" | "responses" | "google" | "converse";

/**
 * What an event says about the end of its answer: `over`, nothing follows; `answered`, the model has ended, and the usage may
 * follow.
 */
export type AnswerEnd = "over" | "answered" | undefined;

/** Looks in the data of an event for the end of the answer. What only looks like it, inside of a text, is told apart. */
export function endIn(format: PackageFormat, data: string): AnswerEnd {
  switch (format) {
    case "chat":
      if (data.startsWith("[DONE]")) return "over";
      if (!/"finish_reason"\s*:\s*"/.test(data)) return undefined;
      return typeof first(parsed(data), "choices")?.finish_reason === "string" ? "answered" : undefined;
    case "messages":
      if (!data.includes("message_stop")) return undefined;
      return parsed(data)?.type === "message_stop" ? "over" : undefined;
    case "responses":
      if (!/response\.(completed|incomplete|failed)/.test(data)) return undefined;
      return /^response\.(completed|incomplete|failed)$/.test(String(parsed(data)?.type)) ? "over" : undefined;
    case "google":
      if (!/"finishReason"\s*:\s*"/.test(data)) return undefined;
      return typeof first(parsed(data), "candidates")?.finishReason === "string" ? "answered" : undefined;
    case "converse":
      return undefined;
  }
}

/** In front of the kind of a frame of Bedrock's event streams, and of the frame with which the model ends. */
const STOP = Buffer.from(":event-type\u0007\u0000\u000bmessageStop", "latin1");

/** Looks for the end in Bedrock's frames, which may be cut anywhere. */
export class FrameEnd {
  #before = Buffer.alloc(0);

  see(bytes: Uint8Array): AnswerEnd {
    const all = Buffer.concat([this.#before, bytes]);
    this.#before = all.subarray(Math.max(0, all.length - STOP.length));
    return all.includes(STOP) ? "answered" : undefined;
  }
}

function parsed(data: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isRecord(value) ? value : undefined;
  } catch {
    // Whoever reads the answer says what is wrong with it.
    return undefined;
  }
}

function first(
  event: Readonly<Record<string, unknown>> | undefined,
  list: string,
): Readonly<Record<string, unknown>> | undefined {
  const [one]: readonly unknown[] = Array.isArray(event?.[list]) ? event[list] : [];
  return isRecord(one) ? one : undefined;
}
