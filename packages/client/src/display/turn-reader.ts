import type { ConversationState } from "@banyan/core/conversation";
import { displayItem, type UnplacedItem } from "./display-item.ts";
import { turnHistory } from "./turn-history.ts";
import type { TurnDisplay, TurnItem, WaitingQuestion } from "./turn-item.ts";
import { runsOfTurn } from "./turn-runs.ts";
import { WrittenParts } from "./written-parts.ts";

interface TurnSpeaker {
  /** The first run of the speaker. Runs that continue its work in another process have the same speaker. */
  readonly run: string;
  /** The launching agent. */
  readonly by: TurnSpeaker | undefined;
}

/**
 * Reads one turn with its sub-agents from a feed, for protocols that stream one turn.
 * @example
 * const reader = new TurnReader();
 * for await (const item of agent.chat(say("Hello"))) for (const { type } of reader.take(item)) console.log(type);
 */
export class TurnReader {
  /** Id of the turn's first message or of its run. The command requested this id. */
  readonly #command: string | undefined;
  #top: TurnSpeaker | undefined;
  /** The run that works on the turn now, or waits. */
  #run: string | undefined;
  /** The speakers by the ids of all their runs. */
  readonly #speakers = new Map<string, TurnSpeaker>();
  readonly #messages = new Map<string, TurnSpeaker>();
  readonly #calls = new Map<
    string,
    { readonly speaker: TurnSpeaker; readonly tool: string; readonly folder?: string }
  >();
  readonly #approvals = new Set<string>();
  readonly #written = new WrittenParts();
  readonly #leftOut: TurnItem[] = [];
  readonly #questions = new Map<string, { readonly question: WaitingQuestion; readonly by: TurnSpeaker }>();
  #isOver = false;

  /** Reads the turn of this command; without a command, the first turn that begins. */
  constructor(command?: string) {
    this.#command = command;
  }

  get run(): string | undefined {
    return this.#run;
  }

  /** True once no items follow. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Open questions to a user, each with the run of the asking sub-agent. */
  get questions(): readonly { readonly question: WaitingQuestion; readonly by?: string }[] {
    return [...this.#questions.values()].map(({ question, by }) => ({ question, ...this.#parentOf(by) }));
  }

  /** Returns the display items for a feed item; none if the item is not about the turn. */
  take(item: UnplacedItem): TurnItem[] {
    const display = this.#isOver ? undefined : displayItem(item);
    if (!display) return [];
    switch (display.type) {
      case "run-start":
        return this.#start(display);
      case "message-start": {
        const { message, run, model } = display;
        const speaker = this.#speakers.get(run);
        if (!speaker) return [];
        this.#messages.set(message, speaker);
        this.#written.begin(message);
        return [{ type: "message-start", message, model, ...this.#parentOf(speaker) }];
      }
      case "text": {
        const speaker = this.#messages.get(display.message);
        return speaker ? this.#say(speaker, display) : [];
      }
      case "call-input": {
        const { message, call, tool, text } = display;
        const speaker = this.#messages.get(message);
        return speaker ? [{ type: "call-input", message, call, tool, text, ...this.#parentOf(speaker) }] : [];
      }
      case "message-end":
        return this.#complete(display);
      case "message-discard": {
        const { message } = display;
        const speaker = this.#messages.get(message);
        if (!speaker) return [];
        this.#messages.delete(message);
        this.#written.end(message);
        return [{ type: "message-discard", message, ...this.#parentOf(speaker) }];
      }
      case "message": {
        const { message, run, role, author = "user", call, parts } = display;
        const speaker = run === undefined ? undefined : this.#speakers.get(run);
        if (!speaker || role !== "user" || author !== "user" || call) return [];
        return [{ type: "message", message, parts: parts as [], ...this.#parentOf(speaker) }];
      }
      case "call":
        return display.status === "pending" ? this.#call(display) : [];
      case "call-output": {
        const { call, text } = display;
        const speaker = this.#calls.get(call)?.speaker;
        return speaker ? [{ type: "call-output", call, text, ...this.#parentOf(speaker) }] : [];
      }
      case "question":
        return this.#asked(display);
      case "answer":
        return this.#answered(display.question, "allowed" in display ? display.allowed : undefined);
      case "call-end": {
        const { outcome, message, call, output } = display;
        const speaker = this.#messages.get(message);
        const wasAsked = this.#approvals.has(call);
        return speaker
          ? [{ type: "call-end", outcome, message, call, output, asked: wasAsked, ...this.#parentOf(speaker) }]
          : [];
      }
      case "file-change": {
        const { message, call, change } = display;
        const speaker = this.#messages.get(message);
        return speaker ? [{ type: "file-change", call, change, ...this.#parentOf(speaker) }] : [];
      }
      case "run-end":
        return this.#end(display);
      case "notice":
        return this.#notice(display);
      case "goal":
        return this.#top && this.#speakers.get(display.run) === this.#top ? [{ type: "goal", text: display.text }] : [];
      case "memory":
      case "delivery":
      case "process":
      case "call-draft":
        return [];
      default:
        return display satisfies never;
    }
  }

  /**
   * Reads a turn from the state so far. `behind`: a message of the turn that the reader has. Items up to it are marked
   * as `known`, except the outcomes of its calls.
   */
  takeUp(state: ConversationState, run: string, behind?: string): TurnItem[] {
    const runs = runsOfTurn(state, run);
    this.#run = runs.at(-1);
    this.#top = this.#addSpeaker(runs);
    const again = turnHistory(state, run, behind).flatMap(([item, isKnown]) => {
      const turnItems = this.take(item);
      return isKnown ? turnItems.map((each): TurnItem => ({ ...each, known: true })) : turnItems;
    });
    return [{ type: "turn-start" }, ...again];
  }

  #addSpeaker(runs: readonly string[], by?: TurnSpeaker): TurnSpeaker {
    const [run = ""] = runs;
    const speaker = { run, by };
    for (const each of runs) this.#speakers.set(each, speaker);
    return speaker;
  }

  #parentOf(speaker: TurnSpeaker): { readonly by?: string } {
    return speaker.by ? { by: speaker.run } : {};
  }

  #call({
    message,
    call,
    tool,
    inputText,
    input,
    about,
  }: TurnDisplay<"call"> & { readonly status: "pending" }): TurnItem[] {
    const speaker = this.#messages.get(message);
    if (!speaker) return [];
    this.#calls.set(call, { speaker, tool, ...(about?.folder !== undefined && { folder: about.folder }) });
    const title = about?.title === undefined ? {} : { title: about.title };
    const fields = input === undefined ? {} : { input };
    return [{ type: "call", message, call, tool, inputText, ...fields, ...title, ...this.#parentOf(speaker) }];
  }

  #notice({ notice, text }: TurnDisplay<"notice">): TurnItem[] {
    if (notice.type === "message.left-out") {
      const item: TurnItem = { type: "notice", text: text ?? "" };
      if (this.#top) return [item];
      this.#leftOut.push(item);
      return [];
    }
    const isOfTurn = this.#top && (!("run" in notice) || this.#speakers.get(notice.run) === this.#top);
    return isOfTurn && text !== undefined ? [{ type: "notice", text }] : [];
  }

  #start(item: TurnDisplay<"run-start">): TurnItem[] {
    const waited = this.#speakers.get(item.continues ?? "");
    if (waited) {
      this.#speakers.set(item.run, waited);
      if (waited === this.#top) this.#run = item.run;
      return [];
    }
    if (item.call === undefined) {
      const isIt = this.#command === undefined || this.#command === item.run || this.#command === item.leaf;
      if (this.#top || !isIt) return [];
      this.#run = item.run;
      this.#top = this.#addSpeaker([item.run]);
      return [{ type: "turn-start" }, ...this.#leftOut];
    }
    const by = this.#calls.get(item.call)?.speaker;
    if (!by) return [];
    const { run, agent, call } = item;
    this.#addSpeaker([run], by);
    return [{ type: "agent-start", run, agent, call, ...this.#parentOf(by) }];
  }

  #say(
    speaker: TurnSpeaker,
    { kind, message, part, text, begins }: Omit<TurnDisplay<"text">, "type" | "run">,
  ): TurnItem[] {
    if (!this.#written.has(message)) return [];
    const rest = this.#written.add(message, part, text, begins);
    return rest === "" ? [] : [{ type: "text", kind, message, part, text: rest, ...this.#parentOf(speaker) }];
  }

  #complete({ message, parts, usage, cost }: TurnDisplay<"message-end">): TurnItem[] {
    const speaker = this.#messages.get(message);
    if (!speaker) return [];
    const by = this.#parentOf(speaker);
    const rest = parts.flatMap((part, index): TurnItem[] => {
      if (part.type === "text" || part.type === "reasoning")
        return this.#say(speaker, { kind: part.type, message, part: index, text: part.text, begins: 0 });
      if (part.type === "file" || part.type === "source") return [{ type: "part", message, index, part, ...by }];
      return [];
    });
    this.#written.end(message);
    return [
      ...rest,
      {
        type: "message-end",
        message,
        text: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
        usage,
        cost,
        ...by,
      },
    ];
  }

  #asked(display: TurnDisplay<"question">): TurnItem[] {
    const { question: id } = display;
    if (display.about === "limit")
      return this.#ask(this.#speakers.get(display.run), { type: "limit", id, text: display.reason });
    const { message, call } = display;
    const by = this.#messages.get(message);
    const known = this.#calls.get(call);
    if (display.about === "text") {
      const { text, choices, fields } = display;
      const offered = { ...(choices && { choices }), ...(fields && { fields }) };
      return this.#ask(by, { type: "text", id, call, tool: known?.tool ?? "", text, ...offered });
    }
    this.#approvals.add(call);
    const folder = known?.folder === undefined ? {} : { folder: known.folder };
    return this.#ask(by, { type: "approval", id, call, tool: display.tool ?? "", ...folder });
  }

  #ask(by: TurnSpeaker | undefined, question: WaitingQuestion): TurnItem[] {
    if (!by) return [];
    this.#questions.set(question.id, { question, by });
    return [{ type: "question", question, ...this.#parentOf(by) }];
  }

  #answered(id: string, allowed?: boolean): TurnItem[] {
    const open = this.#questions.get(id);
    if (!open) return [];
    this.#questions.delete(id);
    const { question, by } = open;
    return [{ type: "answer", question, ...(allowed === undefined ? {} : { allowed }), ...this.#parentOf(by) }];
  }

  #end({ run, reason, leaf, error }: TurnDisplay<"run-end">): TurnItem[] {
    const speaker = this.#speakers.get(run);
    // A waiting run keeps its questions: another run continues after the answer.
    if (!speaker || reason === "waiting") return [];
    // Questions of an ended run can no longer be answered.
    for (const [id, { by }] of this.#questions) if (by === speaker) this.#questions.delete(id);
    const why = error ? { error: error.message } : {};
    if (speaker.by) return [{ type: "agent-end", run: speaker.run, reason, ...why, ...this.#parentOf(speaker.by) }];
    this.#isOver = true;
    return [{ type: "turn-end", reason, leaf, ...why, ...(error && { code: error.code }) }];
  }
}
