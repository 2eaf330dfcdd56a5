import { isJsonRecord, parseJsonText } from "@banyan/core/shown";
import { encodeText, findBytes, joinBytes, NOTHING } from "./bytes.ts";

/** Wire formats of the AI SDK's provider packages. */
export type PackageFormat = "chat" | "messages" | "responses" | "google" | "converse";

/** How an event ends the answer. `over`: no data follows. `answered`: the text is complete, but counts can follow. */
export type AnswerEnd = "over" | "answered" | undefined;

/** Returns whether an event's data ends the answer. Ignores the same words inside a text. */
export function findAnswerEnd(format: PackageFormat, data: string): AnswerEnd {
  switch (format) {
    case "chat":
      if (data.startsWith("[DONE]")) return "over";
      if (!/"finish_reason"\s*:\s*"/.test(data)) return undefined;
      return typeof first(parseEventData(data), "choices")?.finish_reason === "string" ? "answered" : undefined;
    case "messages": {
      if (!data.includes("message_stop") && !/"stop_reason"\s*:\s*"/.test(data)) return undefined;
      const { type, delta } = parseEventData(data) ?? {};
      if (type === "message_stop") return "over";
      return type === "message_delta" && isJsonRecord(delta) && delta.stop_reason ? "answered" : undefined;
    }
    case "responses":
      if (!/response\.(completed|incomplete|failed)/.test(data)) return undefined;
      return /^response\.(completed|incomplete|failed)$/.test(String(parseEventData(data)?.type)) ? "over" : undefined;
    case "google":
      if (!/"finishReason"\s*:\s*"/.test(data)) return undefined;
      return typeof first(parseEventData(data), "candidates")?.finishReason === "string" ? "answered" : undefined;
    case "converse":
      return undefined;
  }
}

/** Choices that packages cannot read: Mistral's package rejects both, the others only `null`. */
const NO_CHOICES = ['"choices":null', '"choices": null', '"choices":[]', '"choices": []'].map(encodeText);
const ONE_CHOICE = encodeText('"choices":[{"index":0,"delta":{},"finish_reason":null}]');

/** Replaces empty `choices` in the chunks of a chat answer with a choice that packages accept (F67). */
export class EmptyChoices {
  #before = NOTHING;

  read(bytes: Uint8Array): Uint8Array {
    let all = joinBytes([this.#before, bytes]);
    for (const none of NO_CHOICES)
      for (let at = findBytes(all, none); at !== -1; at = findBytes(all, none, at))
        all = joinBytes([all.subarray(0, at), ONE_CHOICE, all.subarray(at + none.length)]);
    const kept = Math.max(...NO_CHOICES.map((none) => overlapInBytes(all, none)));
    this.#before = all.subarray(all.length - kept);
    return all.subarray(0, all.length - kept);
  }

  /** The unmatched bytes at the end of the answer. */
  get rest(): Uint8Array {
    return this.#before;
  }
}

/** Number of bytes at the end of `bytes` that begin `part`. */
function overlapInBytes(bytes: Uint8Array, part: Uint8Array): number {
  for (let length = Math.min(bytes.length, part.length - 1); length > 0; length--) {
    const start = bytes.length - length;
    if (bytes[start] === part[0] && bytes.subarray(start).every((byte, index) => byte === part[index])) return length;
  }
  return 0;
}

/** The header of Bedrock's last frame from the model. */
const STOP = encodeText(":event-type\u0007\u0000\u000bmessageStop");

/** Finds the end of an answer in Bedrock's binary messages. Its input may be cut anywhere. */
export class FrameEnd {
  #before = NOTHING;

  see(bytes: Uint8Array): AnswerEnd {
    const all = joinBytes([this.#before, bytes]);
    this.#before = all.subarray(Math.max(0, all.length - STOP.length));
    return findBytes(all, STOP) !== -1 ? "answered" : undefined;
  }
}

function parseEventData(data: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJsonText(data);
  return isJsonRecord(value) ? value : undefined;
}

function first(
  event: Readonly<Record<string, unknown>> | undefined,
  list: string,
): Readonly<Record<string, unknown>> | undefined {
  const [one]: readonly unknown[] = Array.isArray(event?.[list]) ? event[list] : [];
  return isJsonRecord(one) ? one : undefined;
}
