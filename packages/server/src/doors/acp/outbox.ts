import type { SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import type { Update } from "./editor-updates.ts";

/**
 * Sends updates to an editor in order, one at a time. Merges waiting updates if nothing is lost by this. In this way, a
 * slow editor cannot make the queue larger than the conversation.
 */
export class Outbox {
  readonly #send: (update: Update) => Promise<void>;
  #waiting: Update[] = [];
  #sending: Promise<void> | undefined;

  /** `send` resolves when the update is sent. When it rejects, the reader is gone and waiting updates are dropped. */
  constructor(send: (update: Update) => Promise<void>) {
    this.#send = send;
  }

  push(...updates: readonly Update[]): void {
    for (const update of updates) {
      const last = this.#waiting.at(-1);
      const joined = last && joinedOf(last, update);
      if (joined) this.#waiting[this.#waiting.length - 1] = joined;
      else this.#waiting.push(update);
    }
    if (this.#waiting.length > 0) this.#sending ??= this.#sendAll();
  }

  /** Resolves when all updates so far are sent. Never rejects. */
  async empty(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #sendAll(): Promise<void> {
    await undefined;
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await this.#send(next);
    } catch {
      // The connection is closed, and its owner knows.
      this.#waiting = [];
    }
    this.#sending = undefined;
    if (this.#waiting.length > 0) this.#sending = this.#sendAll();
  }
}

function joinedOf(first: Update, second: Update): Update | undefined {
  if (first.sessionId !== second.sessionId) return undefined;
  const [one, other] = [first.update, second.update];
  if (
    isTextChunk(one) &&
    isTextChunk(other) &&
    one.sessionUpdate === other.sessionUpdate &&
    one.messageId === other.messageId
  ) {
    const content = { type: "text" as const, text: one.content.text + other.content.text };
    return { ...first, update: { ...one, content } };
  }
  // The later update has the complete state of the call.
  if (one.sessionUpdate !== "tool_call_update" || other.sessionUpdate !== "tool_call_update") return undefined;
  return one.toolCallId === other.toolCallId ? { ...first, update: { ...one, ...other } } : undefined;
}

type Chunk = Extract<SessionUpdate, { sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" }>;

function isTextChunk(update: SessionUpdate): update is Chunk & { content: { type: "text"; text: string } } {
  const isChunk = update.sessionUpdate === "agent_message_chunk" || update.sessionUpdate === "agent_thought_chunk";
  return isChunk && update.content.type === "text";
}
