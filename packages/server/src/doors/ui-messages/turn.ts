import {
  approvalSubject,
  type TurnItem,
  TurnReader,
  type UnplacedItem,
  type WaitingQuestion,
} from "@banyan/client/display";
import type { Cost, FeedItem, Usage } from "@banyan/core";
import {
  addCost,
  addUsage,
  aiSdkFile,
  aiSdkUserPart,
  type ConversationState,
  noUsage,
} from "@banyan/core/conversation";
import type { UiChunk, UiMetadata, UiQuestion } from "./chunk.ts";

/** The output of a running call; for a sub-agent, its text. */
interface Preliminary {
  text: string;
  sent: number;
}

/** Converts one turn into a UI message stream. A sub-agent's text is the output of the call that launched it. */
export class UiTurn {
  readonly read: TurnReader;
  #open: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined;
  #step: "none" | "open" | "reset" = "none";
  #isStarted = false;
  #usage: Usage = noUsage;
  #cost: Cost = 0;
  readonly #writing = new Set<string>();
  readonly #saying = new Map<string, Preliminary>();
  /** For the run of each sub-agent: the call of the turn's own agent from which it descends. */
  readonly #launchedBy = new Map<string, string>();

  /** `command` selects the turn that it begins. Default: the first turn that begins. */
  constructor(command?: string) {
    this.read = new TurnReader(command);
  }

  take(item: UnplacedItem): UiChunk[] {
    return this.read.take(item).flatMap((turnItem) => this.#tell(turnItem));
  }

  /**
   * The chunks of a turn that is already in the state. `behind` is a message that the reader has: for this message,
   * only the results of its calls follow.
   */
  takeUp(state: ConversationState, run: string, behind?: string): UiChunk[] {
    const turnItems = this.read.takeUp(state, run, behind);
    const [first] = turnItems.filter((each) => each.type === "message-start");
    if (!first?.known) return turnItems.flatMap((each) => this.#tell(each));
    // The reader has the beginning and needs the id of the message that continues.
    this.#isStarted = true;
    const chunks = turnItems.flatMap((each) => this.#tell(each));
    return [this.#startOf(first.message), ...chunks];
  }

  pause(): UiChunk[] {
    return [
      ...this.#close(),
      ...this.#endStep(),
      { type: "finish", finishReason: "tool-calls", messageMetadata: this.metadata },
    ];
  }

  get metadata(): UiMetadata {
    return { run: this.read.run ?? "", usage: this.#usage, cost: this.#cost ?? null };
  }

  #tell(turnItem: TurnItem): UiChunk[] {
    if (turnItem.type === "message-end") {
      this.#usage = addUsage(this.#usage, turnItem.usage);
      this.#cost = addCost(this.#cost, turnItem.cost);
    }
    if (turnItem.known) {
      if (turnItem.type === "message-start" && turnItem.by === undefined) this.#step = "open";
      return [];
    }
    if (turnItem.by !== undefined) return this.#tellOfSubAgent(turnItem, turnItem.by);
    switch (turnItem.type) {
      case "message-start":
        return this.#begin(turnItem.message);
      case "text":
        return this.#say(turnItem.kind, `${turnItem.message}.${turnItem.part}`, turnItem.text);
      case "call-input":
        return this.#writeInput(turnItem.call, turnItem.tool, turnItem.text);
      case "part":
        return [...this.#close(), ...partChunks(`${turnItem.message}.${turnItem.index}`, turnItem.part)];
      case "message-end":
        return this.#close();
      case "message-discard":
        this.#step = "reset";
        this.#open = undefined;
        return [{ type: "reset-step" }];
      case "message":
        if (!this.#isStarted) return [];
        return [{ type: "steering-message", id: turnItem.message, parts: turnItem.parts.map(aiSdkUserPart) }];
      case "call": {
        const title = turnItem.title === undefined ? {} : { title: turnItem.title };
        const input = turnItem.input ?? turnItem.inputText;
        const { call: toolCallId, tool: toolName } = turnItem;
        return [{ type: "tool-input-available", toolCallId, toolName, input, dynamic: true, ...title }];
      }
      case "call-output":
        return this.#sayOf(turnItem.call, turnItem.text);
      case "question":
        if (turnItem.question.type === "approval")
          return [
            { type: "tool-approval-request", approvalId: turnItem.question.id, toolCallId: turnItem.question.call },
          ];
        return [{ type: "data-question", id: turnItem.question.id, data: uiQuestion(turnItem.question) }];
      case "answer":
        if (turnItem.question.type === "approval")
          return [
            { type: "tool-approval-response", approvalId: turnItem.question.id, approved: turnItem.allowed === true },
          ];
        return answeredChunks(turnItem.question);
      case "call-end":
        this.#saying.delete(turnItem.call);
        return [endChunk(turnItem)];
      case "file-change": {
        const { path, kind, added, removed, diff } = turnItem.change;
        return [{ type: "data-file", id: `${turnItem.call}:${path}`, data: { path, kind, added, removed, diff } }];
      }
      case "agent-start":
        this.#launchedBy.set(turnItem.run, turnItem.call);
        return [];
      case "turn-start":
      case "agent-end":
        return [];
      case "notice":
      case "goal":
        return [{ type: "data-notice", data: { text: turnItem.text }, transient: true }];
      case "turn-end":
        return this.#end(turnItem);
      default:
        return turnItem satisfies never;
    }
  }

  /** A sub-agent has no part of its own in a message: its text is the output so far of the call that launched it. */
  #tellOfSubAgent(turnItem: TurnItem, run: string): UiChunk[] {
    const call = this.#launchedBy.get(run);
    if (turnItem.type === "agent-start" && call !== undefined) this.#launchedBy.set(turnItem.run, call);
    if (turnItem.type === "text" && turnItem.kind === "text" && call !== undefined)
      return this.#sayOf(call, turnItem.text);
    // The sub-agent's calls are not in this message, so a page could not show their approval.
    if (turnItem.type === "question")
      return [{ type: "data-question", id: turnItem.question.id, data: uiQuestion(turnItem.question) }];
    if (turnItem.type === "answer") return answeredChunks(turnItem.question);
    return [];
  }

  #startOf(messageId: string): UiChunk {
    this.#isStarted = true;
    return { type: "start", messageId, messageMetadata: this.metadata };
  }

  #begin(message: string): UiChunk[] {
    const start = this.#isStarted ? [] : [this.#startOf(message)];
    // The removed message was the only one of its step, and the step continues.
    const step: UiChunk[] = this.#step === "reset" ? [] : [...this.#endStep(), { type: "start-step" }];
    this.#step = "open";
    return [...start, ...step];
  }

  #endStep(): UiChunk[] {
    if (this.#step === "none") return [];
    this.#step = "none";
    return [{ type: "finish-step" }];
  }

  #say(kind: "text" | "reasoning", id: string, delta: string): UiChunk[] {
    const opening: UiChunk[] =
      this.#open?.id === id ? [] : [...this.#close(), { type: kind === "text" ? "text-start" : "reasoning-start", id }];
    this.#open = { kind, id };
    return [...opening, { type: kind === "text" ? "text-delta" : "reasoning-delta", id, delta }];
  }

  #close(): UiChunk[] {
    const open = this.#open;
    this.#open = undefined;
    return open ? [{ type: open.kind === "text" ? "text-end" : "reasoning-end", id: open.id }] : [];
  }

  #writeInput(toolCallId: string, toolName: string, inputTextDelta: string): UiChunk[] {
    const begins: UiChunk[] = this.#writing.has(toolCallId)
      ? []
      : [...this.#close(), { type: "tool-input-start", toolCallId, toolName, dynamic: true }];
    this.#writing.add(toolCallId);
    return [...begins, { type: "tool-input-delta", toolCallId, inputTextDelta }];
  }

  /**
   * The protocol resends the whole output each time. Sending only after a growth of a tenth bounds the sum to about
   * eleven times the output, whatever its length.
   */
  #sayOf(toolCallId: string, text: string): UiChunk[] {
    const saying = this.#saying.get(toolCallId) ?? { text: "", sent: 0 };
    this.#saying.set(toolCallId, saying);
    saying.text += text;
    if (saying.text.length < saying.sent * 1.1) return [];
    saying.sent = saying.text.length;
    return [{ type: "tool-output-available", toolCallId, output: saying.text, preliminary: true, dynamic: true }];
  }

  #end({ reason, leaf, error }: Extract<TurnItem, { type: "turn-end" }>): UiChunk[] {
    const chunks: UiChunk[] = [...this.#close(), ...this.#endStep()];
    const messageMetadata = { ...this.metadata, reason, leaf };
    if (reason === "failed") chunks.push({ type: "error", errorText: error ?? "The turn failed." });
    else if (reason === "interrupted") chunks.push({ type: "abort", reason: "The turn was interrupted." });
    else chunks.push({ type: "finish", finishReason: reason === "limit" ? "length" : "stop", messageMetadata });
    return chunks;
  }
}

function endChunk({ outcome, call: toolCallId, output, asked }: Extract<TurnItem, { type: "call-end" }>): UiChunk {
  if (outcome === "completed") return { type: "tool-output-available", toolCallId, output, dynamic: true };
  // Without a question, the text explains the denial, for example by a rule.
  if (outcome === "denied" && asked) return { type: "tool-output-denied", toolCallId };
  return { type: "tool-output-error", toolCallId, errorText: output, dynamic: true };
}

function uiQuestion(question: WaitingQuestion): UiQuestion {
  switch (question.type) {
    case "approval":
      return { text: `May a sub-agent run ${approvalSubject(question)}?`, approval: true };
    case "limit":
      return { text: question.text, limit: true };
    case "text":
      return {
        text: question.text,
        ...(question.choices && { choices: question.choices }),
        ...(question.fields && { fields: question.fields }),
      };
    default:
      return question satisfies never;
  }
}

function answeredChunks(question: WaitingQuestion): UiChunk[] {
  return [{ type: "data-question", id: question.id, data: { ...uiQuestion(question), answered: true } }];
}

function partChunks(id: string, part: Extract<TurnItem, { type: "part" }>["part"]): UiChunk[] {
  if (part.type === "file") return [aiSdkFile(part)];
  return [
    { type: "source-url", sourceId: id, url: part.url, ...(part.title === undefined ? {} : { title: part.title }) },
  ];
}

/**
 * Streams the first turn of a chat in the AI SDK's UI message format, for a server of your own. Send the chunks to
 * `useChat` as server-sent events with the header `x-vercel-ai-ui-message-stream: v1`. The stream ends with the turn.
 * Throws the errors of the chat.
 * @example
 * const chunks = uiMessageChunks(agent.chat(say("What is a banyan?")));
 * for await (const chunk of chunks) process.stdout.write(`data: ${JSON.stringify(chunk)}\n\n`);
 * process.stdout.write("data: [DONE]\n\n");
 */
export async function* uiMessageChunks(chat: AsyncIterable<FeedItem>): AsyncGenerator<UiChunk> {
  const turn = new UiTurn();
  for await (const item of chat) {
    yield* turn.take(item);
    if (turn.read.isOver) return;
  }
  // The session closed while a user is asked: the turn waits.
  if (turn.read.questions.length > 0) yield* turn.pause();
}
