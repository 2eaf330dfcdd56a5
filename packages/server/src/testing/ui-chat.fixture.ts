import {
  AbstractChat,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from "ai";
import { expect } from "vitest";
import { TOKEN } from "./served.fixture.ts";

/** The chat state of a page, without a page. */
class State implements ChatState<UIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage) => void this.messages.push(structuredClone(message));
  popMessage = () => void this.messages.pop();
  replaceMessage = (index: number, message: UIMessage) => {
    this.messages[index] = structuredClone(message);
  };
  snapshot = <T>(thing: T) => structuredClone(thing);
}

/** The official transport, which checks each chunk with the official schema. */
class Checked extends DefaultChatTransport<UIMessage> {
  readonly chunks: UIMessageChunk[] = [];
  protected override processResponseStream(stream: ReadableStream<Uint8Array>): ReadableStream<UIMessageChunk> {
    const { chunks } = this;
    const check = new TransformStream<UIMessageChunk, UIMessageChunk>({
      async transform(chunk, controller) {
        const verdict = await uiMessageChunkSchema().validate?.(chunk);
        expect(verdict?.success, JSON.stringify(chunk)).toBe(true);
        chunks.push(chunk);
        controller.enqueue(chunk);
      },
    });
    return super.processResponseStream(stream as never).pipeThrough(check);
  }
}

/** The official client. */
export class Chat extends AbstractChat<UIMessage> {
  readonly chunks: readonly UIMessageChunk[];
  constructor(address: string, id: string) {
    const transport = new Checked({ api: `${address}/api/chat`, headers: { authorization: `Bearer ${TOKEN}` } });
    super({
      id,
      state: new State(),
      transport,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    this.chunks = transport.chunks;
  }
  get last(): UIMessage | undefined {
    return this.messages.at(-1);
  }
}

/** The text of a message. */
export const textOf = (message: UIMessage | undefined) =>
  message?.parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/** The first call of a message. */
export const toolOf = (message: UIMessage | undefined) => message?.parts.find((part) => part.type === "dynamic-tool");
