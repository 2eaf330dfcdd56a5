import type { FeedItem } from "@banyan/core";
import type { ConversationState, Part } from "@banyan/core/conversation";
import { type ToldType, toldItem, type UntoldType } from "@banyan/core/shown";
import { runsOf } from "./following.ts";
import { saidAgain } from "./said-again.ts";
import type { CallEnd, Said, Told, WaitingQuestion } from "./told.ts";

/** What has no words of its own: what is told in a sentence, and what a reader need not know. */
type ToldUntoldType =
  | ToldType
  | UntoldType
  | "memory.recalled"
  | "chat.ended"
  | "input.delivered"
  | "call.executing"
  | "call.draft.delta";

/** The turn itself, or a sub-agent of the turn. */
interface Voice {
  /** The first run: runs that continue the work after the end of a process are the same voice. */
  readonly run: string;
  /** Who launched the sub-agent. */
  readonly by: Voice | undefined;
}

/** A turn as it is read from the feed: what of each item is about it and its sub-agents, as its doors tell it. */
export class ToldTurn {
  /** The command that asks for the turn: the id of its first message, or of its run. */
  readonly #command: string | undefined;
  #top: Voice | undefined;
  /** The run that works on the turn now, or waits. */
  #run: string | undefined;
  /** By each of their runs. */
  readonly #voices = new Map<string, Voice>();
  readonly #messages = new Map<string, Voice>();
  readonly #calls = new Map<string, { readonly voice: Voice; readonly tool: string; readonly folder?: string }>();
  readonly #asked = new Set<string>();
  /** Characters that were told of each part of a message that is under way. */
  readonly #told = new Map<string, number[]>();
  /** Told before the turn began: messages that it leaves out. */
  readonly #leftOut: Told[] = [];
  readonly #questions = new Map<string, { readonly question: WaitingQuestion; readonly by: Voice }>();
  #isOver = false;

  /** Reads the turn that this command begins; without one, the first that begins. */
  constructor(command?: string) {
    this.#command = command;
  }

  /** The run that works on the turn, once the turn has begun. */
  get run(): string | undefined {
    return this.#run;
  }

  /** Nothing follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** What waits for a person, with the run of the sub-agent that asks. */
  get questions(): readonly { readonly question: WaitingQuestion; readonly by?: string }[] {
    return [...this.#questions.values()].map(({ question, by }) => ({ question, ...this.#voiceOf(by) }));
  }

  /** What an item says of the turn; nothing when it is not about it. */
  take(item: Said): Told[] {
    if (this.#isOver) return [];
    switch (item.type) {
      case "run.started":
        return this.#start(item);
      case "message.started": {
        const voice = this.#voices.get(item.run);
        if (!voice) return [];
        this.#messages.set(item.message, voice);
        this.#told.set(item.message, []);
        return [{ type: "begun", message: item.message, model: item.model, ...this.#voiceOf(voice) }];
      }
      case "text.delta":
      case "reasoning.delta": {
        const voice = this.#messages.get(item.message);
        if (!voice) return [];
        const kind = item.type === "text.delta" ? "text" : "reasoning";
        return this.#say(voice, kind, item.message, item.part, item.text, item.begins);
      }
      case "call.input.delta": {
        const { message, call, tool, text } = item;
        const voice = this.#messages.get(message);
        return voice ? [{ type: "input", message, call, tool, text, ...this.#voiceOf(voice) }] : [];
      }
      case "message.completed":
        return this.#complete(item.message, item);
      case "message.abandoned": {
        const voice = this.#messages.get(item.message);
        if (!voice) return [];
        this.#messages.delete(item.message);
        this.#told.delete(item.message);
        return [{ type: "taken-back", message: item.message, ...this.#voiceOf(voice) }];
      }
      case "message.added": {
        const voice = item.run === undefined ? undefined : this.#voices.get(item.run);
        if (!voice || item.role !== "user" || (item.author ?? "user") !== "user" || item.call) return [];
        return [{ type: "steered", message: item.message, parts: item.parts as [], ...this.#voiceOf(voice) }];
      }
      case "call.pending": {
        const voice = this.#messages.get(item.message);
        if (!voice) return [];
        const { type: _, about, ...call } = item;
        const folder = about?.folder === undefined ? {} : { folder: about.folder };
        this.#calls.set(item.call, { voice, tool: item.tool, ...folder });
        const title = about?.title === undefined ? {} : { title: about.title };
        return [{ type: "call", ...call, ...title, ...this.#voiceOf(voice) }];
      }
      case "call.output.delta": {
        const voice = this.#calls.get(item.call)?.voice;
        return voice ? [{ type: "output", call: item.call, text: item.text, ...this.#voiceOf(voice) }] : [];
      }
      case "call.approval-requested": {
        const { question: id, call, tool = "" } = item;
        this.#asked.add(call);
        const { folder } = this.#calls.get(call) ?? {};
        const asked: WaitingQuestion = { type: "approval", id, call, tool, ...(folder !== undefined && { folder }) };
        return this.#ask(this.#messages.get(item.message), asked);
      }
      case "question.asked": {
        const { question: id, call, text, choices, fields } = item;
        const { tool = "" } = this.#calls.get(call) ?? {};
        const asked: WaitingQuestion = {
          type: "text",
          id,
          call,
          tool,
          text,
          ...(choices && { choices }),
          ...(fields && { fields }),
        };
        return this.#ask(this.#messages.get(item.message), asked);
      }
      case "run.paused":
        return this.#ask(this.#voices.get(item.run), { type: "limit", id: item.question, text: item.reason });
      case "call.approval-resolved":
      case "run.continued":
        return this.#answered(item.question, item.allowed);
      case "question.answered":
        return this.#answered(item.question);
      case "call.completed":
      case "call.failed":
      case "call.cancelled":
      case "call.denied": {
        const { message, call, output } = item;
        const voice = this.#messages.get(message);
        const how = item.type.slice("call.".length) as CallEnd;
        const asked = this.#asked.has(call);
        return voice ? [{ type: "ended", how, message, call, output, asked, ...this.#voiceOf(voice) }] : [];
      }
      case "file.changed": {
        const { type: _, message, call, ...change } = item;
        const voice = this.#messages.get(message);
        return voice ? [{ type: "changed", call, change, ...this.#voiceOf(voice) }] : [];
      }
      case "run.ended":
        return this.#end(item);
      case "message.left-out": {
        const notice: Told = { type: "notice", text: toldItem(item) ?? "" };
        if (this.#top) return [notice];
        this.#leftOut.push(notice);
        return [];
      }
      default: {
        item.type satisfies ToldUntoldType;
        if (!this.#top || ("run" in item && this.#voices.get(item.run ?? "") !== this.#top) || "seq" in item) return [];
        const text = toldItem(item as FeedItem);
        return text === undefined ? [] : [{ type: "notice", text }];
      }
    }
  }

  /**
   * Takes up a turn that stands in the state: what it has said so far. `behind`: a message of it that the reader has, up to
   * which all is `known` but what came of its calls.
   */
  takeUp(state: ConversationState, run: string, behind?: string): Told[] {
    const runs = runsOf(state, run);
    this.#run = runs.at(-1);
    this.#top = this.#voice(runs);
    const again = saidAgain(state, run, behind).flatMap(([item, isKnown]) => {
      const told = this.take(item);
      return isKnown ? told.map((each): Told => ({ ...each, known: true })) : told;
    });
    return [{ type: "began" }, ...again];
  }

  #voice(runs: readonly string[], by?: Voice): Voice {
    const [run = ""] = runs;
    const voice = { run, by };
    for (const each of runs) this.#voices.set(each, voice);
    return voice;
  }

  #voiceOf(voice: Voice): { readonly by?: string } {
    return voice.by ? { by: voice.run } : {};
  }

  #start(item: Extract<Said, { type: "run.started" }>): Told[] {
    const waited = this.#voices.get(item.continues ?? "");
    if (waited) {
      this.#voices.set(item.run, waited);
      if (waited === this.#top) this.#run = item.run;
      return [];
    }
    if (item.call === undefined) {
      const isIt = this.#command === undefined || this.#command === item.run || this.#command === item.leaf;
      if (this.#top || !isIt) return [];
      this.#run = item.run;
      this.#top = this.#voice([item.run]);
      return [{ type: "began" }, ...this.#leftOut];
    }
    const by = this.#calls.get(item.call)?.voice;
    if (!by) return [];
    const { run, agent, call } = item;
    this.#voice([run], by);
    return [{ type: "agent-began", run, agent, call, ...this.#voiceOf(by) }];
  }

  #say(
    voice: Voice,
    kind: "text" | "reasoning",
    message: string,
    part: number,
    text: string,
    begins: number | undefined,
  ): Told[] {
    const told = this.#told.get(message);
    const before = told?.[part] ?? 0;
    // After a break the same may be said again.
    const fresh = begins === undefined ? text : text.slice(Math.max(0, before - begins));
    if (!told || fresh === "") return [];
    told[part] = before + fresh.length;
    return [{ type: "said", kind, message, part, text: fresh, ...this.#voiceOf(voice) }];
  }

  #complete(
    message: string,
    { parts, usage, cost }: Pick<Extract<Said, { type: "message.completed" }>, "parts" | "usage" | "cost">,
  ): Told[] {
    const voice = this.#messages.get(message);
    if (!voice) return [];
    const by = this.#voiceOf(voice);
    const rest = parts.flatMap((part, index): Told[] => {
      if (part.type === "text" || part.type === "reasoning")
        return this.#say(voice, part.type, message, index, part.text, 0);
      if (part.type === "file" || part.type === "source") return [{ type: "part", message, index, part, ...by }];
      return [];
    });
    this.#told.delete(message);
    return [...rest, { type: "complete", message, text: textIn(parts), usage, cost, ...by }];
  }

  #ask(by: Voice | undefined, question: WaitingQuestion): Told[] {
    if (!by) return [];
    this.#questions.set(question.id, { question, by });
    return [{ type: "asks", question, ...this.#voiceOf(by) }];
  }

  #answered(id: string, allowed?: boolean): Told[] {
    const open = this.#questions.get(id);
    if (!open) return [];
    this.#questions.delete(id);
    const { question, by } = open;
    return [{ type: "answered", question, ...(allowed === undefined ? {} : { allowed }), ...this.#voiceOf(by) }];
  }

  #end({ run, reason, leaf, error }: Extract<Said, { type: "run.ended" }>): Told[] {
    const voice = this.#voices.get(run);
    // A run that waits asks on: another run continues the work after the answer.
    if (!voice || reason === "waiting") return [];
    // What it asked, nobody can answer any more.
    for (const [id, { by }] of this.#questions) if (by === voice) this.#questions.delete(id);
    const why = error ? { error: error.message } : {};
    if (voice.by) return [{ type: "agent-ended", run: voice.run, reason, ...why, ...this.#voiceOf(voice.by) }];
    this.#isOver = true;
    return [{ type: "over", reason, leaf, ...why, ...(error && { code: error.code }) }];
  }
}

function textIn(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
