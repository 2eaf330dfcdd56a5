import type { LanguageModelRequest } from "@banyan/core/ai-sdk";

type Message = LanguageModelRequest["prompt"][number];

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * An id of a call in the form that a provider takes. One that has it stays; another becomes nine letters and digits that
 * are made of it, the same for the call and its result, today and after a restart.
 */
export function repairedId(id: string, form: RegExp): string {
  if (form.test(id)) return id;
  const digest = process.getBuiltinModule("node:crypto").hash("sha256", id, "buffer");
  return Array.from(digest.subarray(0, 9), (byte) => LETTERS[byte % LETTERS.length]).join("");
}

/** Repairs the ids of calls in requests. */
export class CallIds {
  readonly #form: RegExp;
  /** Messages never change, so that each is looked through once. */
  readonly #repaired = new WeakMap<Message, Message>();

  /** @param form What an id must match. Nine letters and digits must match it too. */
  constructor(form: RegExp) {
    this.#form = form;
  }

  readonly repair = (request: LanguageModelRequest): LanguageModelRequest => ({
    ...request,
    prompt: request.prompt.map((message) => this.#message(message)),
  });

  #message(message: Message): Message {
    if (message.role !== "assistant" && message.role !== "tool") return message;
    let repaired = this.#repaired.get(message);
    if (!repaired) {
      const wrong = message.content.some((part) => "toolCallId" in part && !this.#form.test(part.toolCallId));
      repaired = wrong ? this.#repair(message) : message;
      this.#repaired.set(message, repaired);
    }
    return repaired;
  }

  #repair(message: Extract<Message, { role: "assistant" | "tool" }>): Message {
    const content = message.content.map((part) =>
      "toolCallId" in part ? { ...part, toolCallId: repairedId(part.toolCallId, this.#form) } : part,
    );
    return { ...message, content } as Message;
  }
}
