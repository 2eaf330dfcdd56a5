import { type TurnItem, TurnReader, type UnplacedItem } from "@banyan/client/display";
import { addCost, addUsage, type ConversationState, type Cost, type Json, type Usage } from "@banyan/core/conversation";
import { interruptOf } from "./answers.ts";
import { AG_UI_VERSION, type AgUiEvent, type AgUiOutcome, type AgUiUsage } from "./event.ts";
import {
  agUiContent,
  agUiOutline,
  agUiToolResult,
  isOfRun,
  messagesNamed,
  type Outline,
  outlinePatch,
  partId,
} from "./tree.ts";

/** The run that an AG-UI program requests. See {@link agUiEvents}. */
export interface AgUiRun {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string | undefined;
  /** The messages that the program has; the run continues from them. */
  readonly messages?: readonly { readonly id: string }[] | undefined;
  /** The program's state. The outline of the tree is added under the key `banyan`. */
  readonly state?: unknown;
  /** The tools that the program runs itself. */
  readonly tools?: readonly { readonly name: string }[] | undefined;
}

type AgUiSpeaker = string | undefined;

/** Converts one turn, with its sub-agents, into the events of an AG-UI run. */
export class AgUiTurn {
  readonly read: TurnReader;
  readonly #run: AgUiRun;
  readonly #tree: (() => ConversationState) | undefined;
  #given: readonly { readonly id: string }[];
  #isStarted = false;
  #isFinished = false;
  readonly #open = new Map<AgUiSpeaker, { readonly kind: "text" | "reasoning"; readonly id: string }>();
  readonly #firstTexts = new Map<string, number>();
  /** Calls whose arguments stream, with the number of characters sent. */
  readonly #writing = new Map<string, { readonly by: AgUiSpeaker; sent: number }>();
  readonly #written = new Set<string>();
  readonly #agents: string[] = [];
  /** Completed messages and their agents: what the reader has in addition to `#given`. */
  readonly #done = new Map<string, AgUiSpeaker>();
  readonly #models = new Map<string, string>();
  readonly #usage = new Map<string, Usage>();
  #cost: Cost = 0;
  #outline: Outline | undefined;

  /** `tree` returns the conversation. Absent: no outline is sent. `command` selects the turn as in `TurnReader`. */
  constructor(run: AgUiRun, tree?: () => ConversationState, command?: string) {
    this.read = new TurnReader(command);
    this.#run = run;
    this.#tree = tree;
    this.#given = run.messages ?? [];
  }

  take(item: UnplacedItem): AgUiEvent[] {
    return this.#isFinished ? [] : this.read.take(item).flatMap((turnItem) => this.#tell(turnItem));
  }

  /**
   * The events of a turn that is already in the state. Without `behind`, they start at the turn's beginning and replace
   * the messages of this turn that the reader has.
   */
  takeUp(state: ConversationState, run: string, behind?: string): AgUiEvent[] {
    const turnItems = this.read.takeUp(state, run, behind);
    if (behind === undefined) this.#given = this.#given.filter(({ id }) => !isOfRun(state, id, run));
    const events = turnItems.flatMap((each) => this.#tell(each));
    const begins = events.findIndex(({ type }) => type !== "RUN_STARTED" && type !== "STATE_SNAPSHOT");
    if (behind !== undefined) return events;
    const snapshot: AgUiEvent = { type: "MESSAGES_SNAPSHOT", messages: this.#given };
    return events.toSpliced(begins < 0 ? events.length : begins, 0, snapshot);
  }

  pause(): AgUiEvent[] {
    const waits = this.read.questions;
    const handedOut = waits.flatMap(({ question }) =>
      question.type === "text" && this.#run.tools?.some(({ name }) => name === question.tool) ? [question.call] : [],
    );
    const suspended = this.#agents.toReversed().map((subagentRunId): AgUiEvent => {
      const interruptIds = waits.filter(({ by }) => by === subagentRunId).map(({ question }) => question.id);
      return { type: "SUBAGENT_FINISHED", subagentRunId, outcome: { type: "suspended", interruptIds } };
    });
    const interrupts = waits.map(({ question, by }) => ({
      ...interruptOf(question),
      ...(by === undefined ? {} : { subagentRunId: by }),
    }));
    // A question to the user takes precedence: the program gets its calls again with the next run.
    if (handedOut.length === waits.length)
      return this.#finish({ type: "success", pendingToolCallIds: handedOut }, suspended);
    return this.#finish({ type: "interrupt", interrupts }, suspended);
  }

  /** The events for a program that asks for nothing new: only the existing messages. */
  nothing(): AgUiEvent[] {
    return [
      ...this.#start(),
      { type: "MESSAGES_SNAPSHOT", messages: this.#given },
      ...this.#finish({ type: "success" }, []),
    ];
  }

  #start(): AgUiEvent[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    const { threadId, runId, parentRunId } = this.#run;
    const parent = parentRunId === undefined ? {} : { parentRunId };
    const metadata = this.read.run === undefined ? {} : { metadata: { banyan: { run: this.read.run } } };
    const started: AgUiEvent = {
      type: "RUN_STARTED",
      threadId,
      runId,
      ...parent,
      protocolVersion: AG_UI_VERSION,
      ...metadata,
    };
    if (!this.#tree) return [started];
    this.#outline = agUiOutline(this.#tree());
    const kept = typeof this.#run.state === "object" && !Array.isArray(this.#run.state) ? this.#run.state : {};
    return [started, { type: "STATE_SNAPSHOT", snapshot: { ...kept, banyan: { ...this.#outline } } as Json }];
  }

  /** The change of the outline. Branches are compared only at the end of a turn, because that reads the whole tree. */
  #delta(how: "leaf" | "all"): AgUiEvent[] {
    if (!this.#tree || !this.#outline) return [];
    const now = how === "all" ? agUiOutline(this.#tree()) : { ...this.#outline, leaf: this.#tree().leaf };
    const delta = outlinePatch(this.#outline, now);
    this.#outline = now;
    return delta.length === 0 ? [] : [{ type: "STATE_DELTA", delta }];
  }

  #tell(turnItem: TurnItem): AgUiEvent[] {
    if (turnItem.known) return [];
    const by = turnItem.by === undefined ? {} : { subagentRunId: turnItem.by };
    switch (turnItem.type) {
      case "turn-start":
        return this.#start();
      case "message-start":
        this.#models.set(turnItem.message, turnItem.model);
        return turnItem.by === undefined ? [...this.#start(), ...this.#delta("leaf")] : [];
      case "text":
        return this.#say(turnItem);
      case "call-input":
        return this.#write(turnItem, turnItem.text);
      case "call": {
        if (this.#written.has(turnItem.call)) return [];
        this.#written.add(turnItem.call);
        const events = this.#write(turnItem, turnItem.inputText.slice(this.#writing.get(turnItem.call)?.sent ?? 0));
        this.#writing.delete(turnItem.call);
        return [...events, { type: "TOOL_CALL_END", toolCallId: turnItem.call, ...by }];
      }
      case "part":
        return [
          {
            type: "CUSTOM",
            name: "banyan.part",
            value: { ...turnItem.part, message: turnItem.message } as Json,
            ...by,
          },
        ];
      case "message-end": {
        const model = this.#models.get(turnItem.message) ?? "";
        const sum = this.#usage.get(model);
        this.#usage.set(model, sum ? addUsage(sum, turnItem.usage) : turnItem.usage);
        this.#cost = addCost(this.#cost, turnItem.cost);
        this.#done.set(turnItem.message, turnItem.by);
        return this.#close(turnItem.by);
      }
      case "message-discard":
        return [...this.#close(turnItem.by), ...this.#closeCalls(turnItem.by), ...this.#withoutIt()];
      case "call-output":
        return [
          { type: "CUSTOM", name: "banyan.output", value: { toolCallId: turnItem.call, delta: turnItem.text }, ...by },
        ];
      case "call-end": {
        const { id, ...result } = agUiToolResult(turnItem.call, turnItem.output);
        // The reader already has this result: another call of the same response asked a question.
        if (this.#given.some((given) => given.id === id)) return [];
        return [{ type: "TOOL_CALL_RESULT", messageId: id, ...result, ...by }];
      }
      case "file-change": {
        const { path, kind, added, removed, diff } = turnItem.change;
        return [
          {
            type: "CUSTOM",
            name: "banyan.file",
            value: { call: turnItem.call, path, kind, added, removed, diff },
            ...by,
          },
        ];
      }
      case "message": {
        if (this.#given.some(({ id }) => id === turnItem.message)) return [];
        this.#done.set(turnItem.message, turnItem.by);
        const said = agUiContent(turnItem.parts);
        const delta = typeof said === "string" ? said : said.map((part) => ("text" in part ? part.text : "")).join("");
        const messageId = turnItem.message;
        return [
          { type: "TEXT_MESSAGE_START", messageId, role: "user", ...by },
          ...(delta === "" ? [] : [{ type: "TEXT_MESSAGE_CONTENT", messageId, delta, ...by } as const]),
          { type: "TEXT_MESSAGE_END", messageId, ...by },
        ];
      }
      case "question":
      case "answer":
        return []; // The end of the stream lists the open questions.
      case "agent-start": {
        this.#agents.push(turnItem.run);
        const parent = turnItem.by === undefined ? {} : { parentSubagentRunId: turnItem.by };
        const { run: subagentRunId, agent: name, call: parentToolCallId } = turnItem;
        return [{ type: "SUBAGENT_STARTED", subagentRunId, name, parentToolCallId, ...parent }];
      }
      case "agent-end":
        return this.#endAgent(turnItem.run, turnItem.reason, turnItem.error);
      case "notice":
      case "goal":
        return [{ type: "CUSTOM", name: "banyan.notice", value: { text: turnItem.text } }];
      case "turn-end":
        return this.#end(turnItem);
      default:
        return turnItem satisfies never;
    }
  }

  #say({ kind, message, part, text: delta, by }: Extract<TurnItem, { type: "text" }>): AgUiEvent[] {
    if (kind === "text" && !this.#firstTexts.has(message)) this.#firstTexts.set(message, part);
    const messageId = partId(message, part, kind === "text" && this.#firstTexts.get(message) === part);
    const whose = by === undefined ? {} : { subagentRunId: by };
    const events: AgUiEvent[] = [];
    if (this.#open.get(by)?.id !== messageId) {
      events.push(...this.#close(by));
      this.#open.set(by, { kind, id: messageId });
      if (kind === "text") events.push({ type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...whose });
      else
        events.push(
          { type: "REASONING_START", messageId, ...whose },
          { type: "REASONING_MESSAGE_START", messageId, role: "reasoning", ...whose },
        );
    }
    const type = kind === "text" ? "TEXT_MESSAGE_CONTENT" : "REASONING_MESSAGE_CONTENT";
    events.push({ type, messageId, delta, ...whose });
    return events;
  }

  #close(by: AgUiSpeaker): AgUiEvent[] {
    const open = this.#open.get(by);
    if (!open) return [];
    this.#open.delete(by);
    const whose = by === undefined ? {} : { subagentRunId: by };
    const messageId = open.id;
    if (open.kind === "text") return [{ type: "TEXT_MESSAGE_END", messageId, ...whose }];
    return [
      { type: "REASONING_MESSAGE_END", messageId, ...whose },
      { type: "REASONING_END", messageId, ...whose },
    ];
  }

  #write(
    { message, call, tool, by }: Pick<Extract<TurnItem, { type: "call-input" }>, "message" | "call" | "tool" | "by">,
    delta: string,
  ): AgUiEvent[] {
    const whose = by === undefined ? {} : { subagentRunId: by };
    const events: AgUiEvent[] = [];
    let writing = this.#writing.get(call);
    if (!writing) {
      writing = { by, sent: 0 };
      this.#writing.set(call, writing);
      events.push(...this.#close(by), {
        type: "TOOL_CALL_START",
        toolCallId: call,
        toolCallName: tool,
        parentMessageId: message,
        ...whose,
      });
    }
    writing.sent += delta.length;
    if (delta !== "") events.push({ type: "TOOL_CALL_ARGS", toolCallId: call, delta, ...whose });
    return events;
  }

  #closeCalls(by: AgUiSpeaker): AgUiEvent[] {
    const open = [...this.#writing].filter(([, writing]) => writing.by === by);
    return open.map(([toolCallId]): AgUiEvent => {
      this.#writing.delete(toolCallId);
      return { type: "TOOL_CALL_END", toolCallId, ...(by === undefined ? {} : { subagentRunId: by }) };
    });
  }

  /** The protocol cannot remove a message: send all remaining messages as a snapshot. */
  #withoutIt(): AgUiEvent[] {
    if (!this.#tree) return [];
    return [{ type: "MESSAGES_SNAPSHOT", messages: [...this.#given, ...messagesNamed(this.#tree(), this.#done)] }];
  }

  #endAgent(run: string, reason: Extract<TurnItem, { type: "turn-end" }>["reason"], error?: string): AgUiEvent[] {
    const place = this.#agents.indexOf(run);
    if (place < 0) return [];
    this.#agents.splice(place, 1);
    const closed = [...this.#close(run), ...this.#closeCalls(run)];
    if (reason !== "failed" && reason !== "interrupted")
      return [...closed, { type: "SUBAGENT_FINISHED", subagentRunId: run, outcome: { type: "success" } }];
    const message = error ?? (reason === "failed" ? "The sub-agent failed." : "The sub-agent was interrupted.");
    return [...closed, { type: "SUBAGENT_ERROR", subagentRunId: run, message, code: reason }];
  }

  #end({ reason, leaf, error }: Extract<TurnItem, { type: "turn-end" }>): AgUiEvent[] {
    const left = this.#agents.toReversed().flatMap((run) => this.#endAgent(run, "interrupted"));
    if (reason !== "failed")
      return this.#finish({ type: reason === "interrupted" ? "cancelled" : "success" }, left, { reason, leaf });
    this.#isFinished = true;
    const message = error ?? "The turn failed.";
    return [...this.#start(), ...left, { type: "RUN_ERROR", message, code: reason, usage: this.#usageOf() }];
  }

  #finish(outcome: AgUiOutcome, last: readonly AgUiEvent[], more: { readonly [key: string]: Json } = {}): AgUiEvent[] {
    const closed = [undefined, ...this.#agents].flatMap((by) => [...this.#close(by), ...this.#closeCalls(by)]);
    const delta = this.#delta("all");
    this.#isFinished = true;
    const { threadId, runId } = this.#run;
    const metadata = { banyan: { ...more, cost: this.#cost ?? null } };
    return [
      ...this.#start(),
      ...closed,
      ...last,
      ...delta,
      { type: "RUN_FINISHED", threadId, runId, outcome, usage: this.#usageOf(), metadata },
    ];
  }

  #usageOf(): AgUiUsage[] {
    return [...this.#usage].map(([id, { input, cached, cacheWrite, output, reasoning }]) => {
      const [provider, ...rest] = id.split("/");
      return {
        ...(provider !== undefined && rest.length > 0 ? { provider } : {}),
        model: rest.length > 0 ? rest.join("/") : id,
        inputTokens: input,
        outputTokens: output,
        totalTokens: input + output,
        reasoningTokens: reasoning,
        cachedInputTokens: cached,
        cacheWriteInputTokens: cacheWrite,
      };
    });
  }
}
