import type { Cost, FeedItem, Usage } from "@banyan/core";
import type { AssistantMessage, ConversationState, Part, UserPart } from "@banyan/core/conversation";
import { type ToldType, toldItem, type UntoldType } from "@banyan/core/shown";
import type { UiChunk, UiFile, UiMetadata, UiPart, UiQuestion } from "./ui-chunk.ts";

/** What has no chunk of its own: what is told in a sentence, and what a reader need not know. */
type UiUntoldType =
  | ToldType
  | UntoldType
  | "memory.recalled"
  | "chat.ended"
  | "input.delivered"
  | "call.executing"
  | "call.output.delta"
  | "call.draft.delta";

/** An item without its place in a log: what is said again of a turn that stands in the state. */
type Said = FeedItem extends infer Item
  ? Item extends unknown
    ? Omit<Item, "seq" | "epoch" | "at" | "offset">
    : never
  : never;

/** One turn, told as a UI message stream: what the items of a feed say of it, as chunks. Sub-agents speak by their call alone. */
export class UiTurn {
  #run: string | undefined;
  /** The command that asks for the turn: the id of its first message, or of its run. */
  readonly #command: string | undefined;
  readonly #messages = new Set<string>();
  readonly #asked = new Set<string>();
  /** The characters of each part of the message under way that were told. */
  #told: number[] = [];
  #open: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined;
  #step: "none" | "open" | "reset" = "none";
  #isStarted = false;
  #usage: Usage = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  #cost: Cost = 0;
  /** Questions that are open. */
  readonly questions = new Map<string, UiQuestion | undefined>();
  /** Nothing follows. */
  isOver = false;

  /** Tells the turn that this command begins; without one, the first that begins. */
  constructor(command?: string) {
    this.#command = command;
  }

  get run(): string | undefined {
    return this.#run;
  }

  /** The chunks that say what an item says; none when it is not about this turn. */
  take(item: Said): UiChunk[] {
    if (this.isOver) return [];
    switch (item.type) {
      case "run.started":
        if (this.#run === undefined && item.call === undefined && this.#isAskedFor(item.run, item.leaf))
          this.#run = item.run;
        return [];
      case "message.started":
        return item.run === this.#run ? this.#begin(item.message) : [];
      case "text.delta":
      case "reasoning.delta":
        if (!this.#messages.has(item.message)) return [];
        return this.#say(
          item.type === "text.delta" ? "text" : "reasoning",
          item.message,
          item.part,
          item.text,
          item.begins,
        );
      case "call.input.delta":
        return this.#messages.has(item.message) ? this.#writeInput(item.call, item.tool, item.text) : [];
      case "message.completed":
        return this.#messages.has(item.message) ? this.#complete(item.message, item.parts, item.usage, item.cost) : [];
      case "message.abandoned":
        if (!this.#messages.delete(item.message)) return [];
        this.#step = "reset";
        this.#open = undefined;
        return [{ type: "reset-step" }];
      case "message.added":
        if (item.role !== "user" || item.run !== this.#run || (item.author ?? "user") !== "user" || item.call)
          return [];
        return this.#isStarted ? [{ type: "steering-message", id: item.message, parts: uiPartsOf(item.parts) }] : [];
      case "call.pending": {
        if (!this.#messages.has(item.message)) return [];
        const title = item.about?.title;
        const input = item.input ?? item.inputText;
        return [
          {
            ...{ type: "tool-input-available", toolCallId: item.call, toolName: item.tool, input, dynamic: true },
            ...(title === undefined ? {} : { title }),
          },
        ];
      }
      case "call.approval-requested":
        if (!this.#messages.has(item.message)) return [];
        this.#asked.add(item.call);
        this.questions.set(item.question, undefined);
        return [{ type: "tool-approval-request", approvalId: item.question, toolCallId: item.call }];
      case "call.approval-resolved":
        if (!this.questions.delete(item.question)) return [];
        return [{ type: "tool-approval-response", approvalId: item.question, approved: item.allowed }];
      case "call.completed":
      case "call.failed":
      case "call.cancelled":
      case "call.denied":
        return this.#messages.has(item.message) ? [this.#ended(item.type, item.call, item.output)] : [];
      case "file.changed": {
        if (!this.#messages.has(item.message)) return [];
        const { path, kind, added, removed, diff } = item;
        return [{ type: "data-file", id: `${item.call}:${path}`, data: { path, kind, added, removed, diff } }];
      }
      case "question.asked":
        if (!this.#messages.has(item.message)) return [];
        return this.#ask(item.question, { text: item.text, ...(item.choices ? { choices: item.choices } : {}) });
      case "run.paused":
        return item.run === this.#run ? this.#ask(item.question, { text: item.reason, limit: true }) : [];
      case "question.answered":
      case "run.continued":
        return this.#answered(item.question);
      case "run.ended":
        return item.run === this.#run ? this.#end(item) : [];
      default: {
        item.type satisfies UiUntoldType;
        if ("run" in item && item.run !== this.#run) return [];
        const text = "seq" in item ? undefined : toldItem(item as FeedItem);
        return text === undefined || this.#run === undefined
          ? []
          : [{ type: "data-notice", data: { text }, transient: true }];
      }
    }
  }

  /**
   * Takes up a turn that stands in the state: the chunks that say it so far. `behind`: a message of it that the reader has;
   * of that one, only what came of its calls is told.
   */
  takeUp(state: ConversationState, run: string, behind?: string): UiChunk[] {
    this.#run = run;
    const messages = [...state.messages.values()].filter(
      (message): message is AssistantMessage => message.role === "assistant" && message.run === run,
    );
    const first = messages[0];
    let isKnown = behind !== undefined && messages.some(({ id }) => id === behind);
    const chunks: UiChunk[] = [];
    for (const message of messages) {
      for (const item of saidOf(message, state)) {
        const told = this.take(item);
        if (!isKnown || (message.id === behind && OUTCOMES.has(item.type))) chunks.push(...told);
      }
      if (message.id === behind) isKnown = false;
    }
    if (behind !== undefined && first && chunks[0]?.type !== "start") chunks.unshift(this.#startOf(first.id));
    for (const question of state.questions.values())
      if (question.type === "limit" && question.run === run)
        chunks.push(...this.#ask(question.id, { text: question.reason, limit: true }));
    return chunks;
  }

  /** The stream ends here, and the turn does not: it waits for a person. */
  pause(): UiChunk[] {
    return [
      ...this.#close(),
      ...this.#endStep(),
      { type: "finish", finishReason: "tool-calls", messageMetadata: this.metadata },
    ];
  }

  #isAskedFor(run: string, leaf: string | null): boolean {
    return this.#command === undefined || this.#command === run || this.#command === leaf;
  }

  /** What is known of the turn so far. */
  get metadata(): UiMetadata {
    return { run: this.#run ?? "", usage: this.#usage, cost: this.#cost ?? null };
  }

  #startOf(messageId: string): UiChunk {
    this.#isStarted = true;
    return { type: "start", messageId, messageMetadata: this.metadata };
  }

  #begin(message: string): UiChunk[] {
    this.#messages.add(message);
    this.#told = [];
    const start = this.#isStarted ? [] : [this.#startOf(message)];
    // What was taken back was the whole of its step, which goes on.
    const step: UiChunk[] = this.#step === "reset" ? [] : [...this.#endStep(), { type: "start-step" }];
    this.#step = "open";
    return [...start, ...step];
  }

  #endStep(): UiChunk[] {
    if (this.#step === "none") return [];
    this.#step = "none";
    return [{ type: "finish-step" }];
  }

  #say(kind: "text" | "reasoning", message: string, part: number, text: string, begins?: number): UiChunk[] {
    const told = this.#told[part] ?? 0;
    // After a break the same may be said again.
    const delta = begins === undefined ? text : text.slice(Math.max(0, told - begins));
    if (delta === "") return [];
    const id = `${message}.${part}`;
    const opening: UiChunk[] =
      this.#open?.id === id ? [] : [...this.#close(), { type: kind === "text" ? "text-start" : "reasoning-start", id }];
    this.#open = { kind, id };
    this.#told[part] = told + delta.length;
    return [...opening, { type: kind === "text" ? "text-delta" : "reasoning-delta", id, delta }];
  }

  #close(): UiChunk[] {
    const open = this.#open;
    this.#open = undefined;
    return open ? [{ type: open.kind === "text" ? "text-end" : "reasoning-end", id: open.id }] : [];
  }

  /** Calls whose input streams. */
  readonly #writing = new Set<string>();

  #writeInput(toolCallId: string, toolName: string, inputTextDelta: string): UiChunk[] {
    const begins: UiChunk[] = this.#writing.has(toolCallId)
      ? []
      : [...this.#close(), { type: "tool-input-start", toolCallId, toolName, dynamic: true }];
    this.#writing.add(toolCallId);
    return [...begins, { type: "tool-input-delta", toolCallId, inputTextDelta }];
  }

  #complete(message: string, parts: readonly Part[], usage: Usage, cost: Cost): UiChunk[] {
    const chunks: UiChunk[] = [];
    for (const [index, part] of parts.entries()) {
      if (part.type === "text" || part.type === "reasoning")
        chunks.push(...this.#say(part.type, message, index, part.text, 0));
      else if (part.type === "file") chunks.push(...this.#close(), ...uiFilesOf(part));
      else if (part.type === "source")
        chunks.push({
          ...{ type: "source-url", sourceId: `${message}.${index}`, url: part.url },
          ...(part.title === undefined ? {} : { title: part.title }),
        });
    }
    const names = Object.keys(this.#usage) as (keyof Usage)[];
    this.#usage = Object.fromEntries(names.map((name) => [name, this.#usage[name] + usage[name]])) as unknown as Usage;
    this.#cost = this.#cost === undefined || cost === undefined ? undefined : this.#cost + cost;
    return [...chunks, ...this.#close()];
  }

  #ended(
    type: "call.completed" | "call.failed" | "call.cancelled" | "call.denied",
    toolCallId: string,
    output: string,
  ): UiChunk {
    if (type === "call.completed") return { type: "tool-output-available", toolCallId, output, dynamic: true };
    // Who was not asked is told why: a rule says no, say.
    if (type === "call.denied" && this.#asked.has(toolCallId)) return { type: "tool-output-denied", toolCallId };
    return { type: "tool-output-error", toolCallId, errorText: output, dynamic: true };
  }

  #ask(id: string, question: UiQuestion): UiChunk[] {
    this.questions.set(id, question);
    return [{ type: "data-question", id, data: question }];
  }

  #answered(id: string): UiChunk[] {
    const question = this.questions.get(id);
    this.questions.delete(id);
    return question ? [{ type: "data-question", id, data: { ...question, answered: true } }] : [];
  }

  #end({
    reason,
    leaf,
    error,
  }: {
    reason: NonNullable<UiMetadata["reason"]>;
    leaf: string | null;
    error?: { message: string };
  }) {
    this.isOver = true;
    const chunks: UiChunk[] = [...this.#close(), ...this.#endStep()];
    const messageMetadata = { ...this.metadata, reason, leaf };
    if (reason === "failed") chunks.push({ type: "error", errorText: error?.message ?? "The turn failed." });
    else if (reason === "interrupted") chunks.push({ type: "abort", reason: "The turn was interrupted." });
    else chunks.push({ type: "finish", finishReason: reason === "limit" ? "length" : "stop", messageMetadata });
    return chunks;
  }
}

const OUTCOMES: ReadonlySet<string> = new Set(["call.completed", "call.failed", "call.denied", "call.cancelled"]);

/** What the feed said of a message, said again. */
function saidOf(message: AssistantMessage, state: ConversationState): Said[] {
  const { id, parentId, run, model, parts, finish, calls } = message;
  const items: Said[] = [{ type: "message.started", message: id, parentId, run, model }];
  if (finish === undefined) {
    const voice = { run, agent: "", depth: 0, message: id };
    for (const [part, { type, ...rest }] of parts.entries())
      if ((type === "text" || type === "reasoning") && "text" in rest)
        items.push({ ...voice, type: `${type}.delta`, part, text: rest.text } as Said);
    return items;
  }
  const usage = message.usage ?? { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  items.push({
    ...{ type: "message.completed", message: id, parts, finish, usage },
    ...(message.cost === undefined ? {} : { cost: message.cost }),
  });
  const questions = [...state.questions.values()];
  for (const call of calls) {
    const of = { message: id, call: call.id, tool: call.tool };
    const input = call.input === undefined ? {} : { input: call.input };
    items.push({
      ...of,
      ...input,
      type: "call.pending",
      inputText: call.inputText,
      ...(call.about && { about: call.about }),
    });
    const question = questions.find((open) => open.type !== "limit" && open.call === call.id);
    if (question?.type === "approval") items.push({ ...of, type: "call.approval-requested", question: question.id });
    if (question?.type === "text") {
      const { text, choices } = question;
      items.push({
        message: id,
        call: call.id,
        type: "question.asked",
        question: question.id,
        text,
        ...(choices && { choices }),
      });
    }
    for (const change of call.changes ?? [])
      items.push({ message: id, call: call.id, type: "file.changed", ...change });
    if (OUTCOMES.has(`call.${call.status}`))
      items.push({ ...of, type: `call.${call.status}`, output: call.output ?? "" } as Said);
  }
  return items;
}

/** What a person said, as parts of a UI message. */
export function uiPartsOf(parts: readonly UserPart[]): UiPart[] {
  return parts.flatMap((part): UiPart[] =>
    part.type === "text" ? [{ type: "text", text: part.text }] : uiFilesOf(part),
  );
}

function uiFilesOf({ mediaType, name, data, url }: Extract<Part, { type: "file" }>): UiFile[] {
  const address = url ?? (data === undefined ? undefined : `data:${mediaType};base64,${data}`);
  if (address === undefined) return [];
  return [{ type: "file", mediaType, url: address, ...(name === undefined ? {} : { filename: name }) }];
}

/**
 * Tells the first turn of a chat as a UI message stream of the AI SDK, for a server of your own: what `useChat` reads when it
 * is sent as server-sent events with the header `x-vercel-ai-ui-message-stream: v1`. Ends with the turn. Throws what the chat
 * throws.
 * @example
 * const chunks = uiMessageChunks(agent.chat(say("What is a banyan?")));
 * for await (const chunk of chunks) process.stdout.write(`data: ${JSON.stringify(chunk)}\n\n`);
 * process.stdout.write("data: [DONE]\n\n");
 */
export async function* uiMessageChunks(chat: AsyncIterable<FeedItem>): AsyncGenerator<UiChunk> {
  const turn = new UiTurn();
  for await (const item of chat) {
    yield* turn.take(item);
    if (turn.isOver) return;
  }
}
