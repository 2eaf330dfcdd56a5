import type { SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import type { Update } from "./telling.ts";

/**
 * What an editor is to be told, in order. One update is on its way at a time; what waits behind it is joined where that loses
 * nothing, so that an editor that reads slowly makes it grow no more than the conversation.
 */
export class Outbox {
  readonly #send: (update: Update) => Promise<void>;
  #waiting: Update[] = [];
  #sending: Promise<void> | undefined;

  /** `send` resolves when the update has left; when it rejects, nobody reads any more, and what waits is dropped. */
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

  /** Resolves when all that was pushed so far has left. Never rejects. */
  async empty(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #sendAll(): Promise<void> {
    // What comes in the same tick goes together.
    await undefined;
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await this.#send(next);
    } catch {
      // The connection is closed: that, whoever serves it is told.
      this.#waiting = [];
    }
    this.#sending = undefined;
    if (this.#waiting.length > 0) this.#sending = this.#sendAll();
  }
}

/** Two updates as one; nothing where they are two things. */
function joinedOf(first: Update, second: Update): Update | undefined {
  if (first.sessionId !== second.sessionId) return undefined;
  const [one, other] = [first.update, second.update];
  if (isText(one) && isText(other) && one.sessionUpdate === other.sessionUpdate && one.messageId === other.messageId) {
    const content = { type: "text" as const, text: one.content.text + other.content.text };
    return { ...first, update: { ...one, content } };
  }
  // The later one says all that there is of the call now.
  if (one.sessionUpdate !== "tool_call_update" || other.sessionUpdate !== "tool_call_update") return undefined;
  return one.toolCallId === other.toolCallId ? { ...first, update: { ...one, ...other } } : undefined;
}

type Chunk = Extract<SessionUpdate, { sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" }>;

function isText(update: SessionUpdate): update is Chunk & { content: { type: "text"; text: string } } {
  const isChunk = update.sessionUpdate === "agent_message_chunk" || update.sessionUpdate === "agent_thought_chunk";
  return isChunk && update.content.type === "text";
}
