import { HttpAgent, type Message } from "@ag-ui/client";
import { EventSchema } from "@ag-ui/core/schemas";
import { expect } from "vitest";
import { TOKEN } from "./served.fixture.ts";

/** An event as sent over the wire. */
export type Seen = { readonly type: string } & Readonly<Record<string, unknown>>;

/** AG-UI's own client, which verifies the order of events. Each event is also checked with the official schema. */
export class AgUiClient extends HttpAgent {
  readonly seen: Seen[] = [];

  constructor(address: string, threadId: string, initialMessages: Message[] = []) {
    super({
      url: `${address}/api/ag-ui`,
      threadId,
      initialMessages,
      headers: { authorization: `Bearer ${TOKEN}` },
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        return new Response(response.body?.pipeThrough(this.#check()), response);
      },
    });
  }

  /** Sends a message. Resolves when the run has ended. */
  say(text: string, parameters: Parameters<HttpAgent["runAgent"]>[0] = {}) {
    this.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
    return this.runAgent(parameters);
  }

  /** The event types of the last run, with repeated content events merged. */
  get kinds(): readonly string[] {
    const begins = this.seen.findLastIndex(({ type }) => type === "RUN_STARTED");
    const types = this.seen.slice(begins).map(({ type }) => type);
    return types.filter((type, index) => !(type.endsWith("_CONTENT") && types[index - 1] === type));
  }

  /** The last event. */
  get last(): Seen | undefined {
    return this.seen.at(-1);
  }

  /** The messages as text. */
  get told(): readonly string[] {
    return this.messages.map((message) => {
      const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
      const made = calls.map(({ function: { name, arguments: given } }) => `${name}(${given})`);
      return [`${message.role}:`, "content" in message ? message.content : "", ...made].filter(Boolean).join(" ");
    });
  }

  #check(): TransformStream<Uint8Array, Uint8Array> {
    const decoder = new TextDecoder();
    let rest = "";
    return new TransformStream({
      transform: (chunk, controller) => {
        const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) {
          const event: Seen = JSON.parse(block.replace(/^data: /, ""));
          expect(EventSchema.safeParse(event).error, block).toBeUndefined();
          this.seen.push(event);
        }
        controller.enqueue(chunk);
      },
    });
  }
}
