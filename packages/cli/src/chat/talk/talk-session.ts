import type { Client, Input, Watched } from "@banyan/client";
import {
  type Answer,
  type ConversationState,
  createId,
  type Delivery,
  type Directive,
  type FeedItem,
  type UserPart,
} from "@banyan/core";
import type { LiveRun } from "@banyan/core/conversation";
import type { FeedListener } from "@banyan/core/hosts";
import { modeLeft, type PlanApproval, type TakenBack } from "@banyan/host";
import type { Command, CommandName, NarrowedRule, Result } from "@banyan/protocol";
import type { WrittenAbout } from "../../show/attached.ts";
import type { AskingSession } from "../user/approvals.ts";
import type { LeftBranch } from "../user/leave-files.ts";

/** Nothing went along. */
const NOTHING: WrittenAbout = { attached: [], problems: [], isRedacted: false };

/** Where a turn begins, and how it is taken. */
export interface Beginning {
  /** The message to go on from; where it was last written to when absent. */
  readonly at: string | undefined;
  readonly mode: "chat" | "task";
  /** The model of the turn; that of the conversation when absent. */
  readonly model?: string | undefined;
  /** The named agent that takes it; the one that the person talks with when absent. */
  readonly agent?: string | undefined;
  /** What is said was written by somebody else: nothing goes along that it names. */
  readonly asIs?: boolean | undefined;
}

/** Has the desk say what a prompt of its own says. */
export interface PromptDirective {
  readonly type: "prompt";
  readonly prompt: string;
  /** What was typed behind its name. */
  readonly argument: string;
}

/** The commands that are about one conversation. */
type HereCommand = {
  [Name in CommandName]: "conversation" extends keyof Command<Name> ? Name : never;
}[CommandName];

/** What such a command says beside the conversation. */
type AboutHere<Name extends HereCommand> = Omit<Input<Name>, "conversation">;

/** The conversation that a person is in, at the desk of this program or of a server. */
export class TalkSession implements AskingSession {
  readonly watched: Watched;
  readonly #client: Client;
  /** Messages of this client, and runs that it began otherwise. */
  readonly #own = new Set<string>();
  /** Those that were added without a turn. */
  readonly #added = new Set<string>();
  /** Commands that asked the same on several branches; the ids of their messages begin with theirs. */
  readonly #fanned = new Set<string>();
  /** Whether files are being put back. */
  #isReverting = false;
  /** Whether branches with files of their own are being made. */
  #isOpening = false;
  /** The run that sums up a branch for the person. */
  #compacting: string | undefined;

  constructor(client: Client, watched: Watched) {
    this.#client = client;
    this.watched = watched;
  }

  get id(): string {
    return this.watched.id;
  }

  get state(): ConversationState {
    return this.watched.state;
  }

  /** What a process left in the middle when it stopped. */
  get interrupted(): readonly LiveRun[] {
    return this.watched.tree?.interrupted ?? [];
  }

  /** Its rules that allow less than when the user allowed them, as the server says. */
  get narrowed(): readonly NarrowedRule[] {
    return this.watched.tree?.narrowed ?? [];
  }

  /** What runs in it now. */
  get live(): readonly LiveRun[] {
    const left = new Set(this.interrupted.map(({ id }) => id));
    return [...this.state.runs.values()].filter(({ id }) => !left.has(id));
  }

  /** Whether one of these messages and runs is of this client. */
  isOwn(...ids: readonly (string | null)[]): boolean {
    return ids.some((id) => id !== null && this.#own.has(id));
  }

  /** Whether an item is something that this client did, and showed to its person as it was done. */
  isShown(item: FeedItem): boolean {
    if (item.type === "file.changed") return this.#isReverting;
    if (item.type !== "message.added") return false;
    if (item.role === "user" && item.author === "system")
      return item.worktree === undefined ? this.#isReverting : this.#isOpening;
    if (this.isAside(item.message)) return true;
    // What waited is shown when it is delivered.
    return this.#added.has(item.message) && !this.state.inbox.some(({ id }) => id === item.message);
  }

  /** What messages say is known once this resolves: where the server began anew, it is read. Rejects with `ClientError`. */
  read(): Promise<void> {
    return this.watched.read();
  }

  /** Asks the server for a command on this conversation, and remembers what of its result this client has shown already. */
  perform<Name extends HereCommand>(type: Name, input: AboutHere<Name>): Promise<Result<Name>> {
    const ask = (id: string) => this.#client.ask(type, { ...this.#here, ...input } as unknown as Input<Name>, id);
    switch (type) {
      case "branch.fan": {
        const id = createId();
        this.#fanned.add(id);
        return this.#whileOpening(ask(id));
      }
      case "worktree.open":
        return this.#whileOpening(ask(createId()));
      case "branch.bring":
      case "turn.say":
        return ask(this.#ownId());
      case "branch.compact":
        return this.#whileCompacting(ask);
      default:
        return ask(createId());
    }
  }

  /** Begins a turn; resolves when it has begun, with what goes along with what was said. */
  async turn(directive: Exclude<Directive, { type: "stop" }> | PromptDirective, how: Beginning): Promise<WrittenAbout> {
    const { type } = directive;
    const { at, model, agent, asIs } = how;
    // Another agent is asked something, and answers.
    const mode = agent === undefined ? how.mode : "chat";
    const by = { ...(model !== undefined && { model }), ...(agent !== undefined && { agent }) };
    const place = { ...this.#here, mode, ...(at !== undefined && { at }), ...by };
    switch (type) {
      case "say":
        return aboutOf(
          await this.#client.ask(
            "turn.say",
            { ...place, parts: directive.parts, ...(asIs && { asIs }) },
            this.#ownId(),
          ),
        );
      case "prompt": {
        const { prompt, argument } = directive;
        return aboutOf(await this.#client.ask("prompt.say", { ...place, prompt, argument }, this.#ownId()));
      }
      case "retry": {
        const parts = directive.parts ? { parts: directive.parts } : {};
        return aboutOf(await this.#client.ask("turn.retry", { ...place, ...parts }, this.#ownId()));
      }
      case "resume":
        await this.#client.ask("turn.resume", { ...place, mode: modeLeft(this, at) ?? mode }, this.#ownId());
        return NOTHING;
    }
  }

  /** Says something to a run; if it is over, it begins a turn. */
  async say(
    parts: readonly UserPart[],
    to: { readonly run: string; readonly delivery: Delivery; readonly mode: Beginning["mode"] },
  ): Promise<WrittenAbout> {
    return aboutOf(await this.#client.ask("turn.say", { ...this.#here, parts, ...to }, this.#ownId()));
  }

  /** Adds something without a turn, or says it to a run; returns the message, unless it waits. */
  async add(
    parts: readonly UserPart[],
    to: { readonly at: string | null; readonly run?: string | undefined },
  ): Promise<string | undefined> {
    const id = this.#ownId();
    this.#added.add(id);
    const { message, waits } = await this.#client.ask("message.add", { ...this.#here, parts, ...to }, id);
    return waits ? undefined : message;
  }

  /** Ends the summary that was asked for here; else a run, or, without one, all that run. Resolves with how many it ended. */
  async interrupt(shown: string | undefined): Promise<number> {
    const run = this.#compacting ?? shown;
    const there = { ...this.#here, ...(run === undefined ? {} : { run }) };
    return (await this.#client.ask("run.interrupt", there)).interrupted;
  }

  /** Puts the files of a branch that is left back to what they were before it. */
  revert({ leaf, to }: LeftBranch): Promise<TakenBack> {
    const beside = to === null ? {} : { beside: to };
    return this.#whileReverting(this.#client.ask("file.revert", { ...this.#here, leaf, ...beside }));
  }

  /**
   * Puts the files that a call on the branch down to `leaf` has changed back to what they were before it; `agreed`: also
   * what a log from elsewhere says that they were.
   */
  undo(call: string, leaf: string, agreed: boolean): Promise<TakenBack> {
    return this.#whileReverting(
      this.#client.ask("file.undo", { ...this.#here, leaf, call, ...(agreed && { agreed }) }),
    );
  }

  /** Whether a message is one of several that this client asked the same by: its person stays where they are. */
  isAside(message: string | null): boolean {
    return message !== null && this.#fanned.has(message.slice(0, message.lastIndexOf(".")));
  }

  /** Resolves with why a rule could not be kept for good, if so. */
  async answer(question: string, answer: Answer, approval?: PlanApproval): Promise<string | undefined> {
    const given = { ...this.#here, question, answer, ...(approval && { approval }) };
    return (await this.#client.ask("question.answer", given)).problem;
  }

  async allowChanges(run: string): Promise<void> {
    await this.#client.ask("approval.use", { mode: "edits", run });
  }

  /** The conversation as a file; as Markdown, the branch down to `leaf`. */
  async exported(
    format: "html" | "json" | "markdown",
    leaf: string | null,
  ): Promise<{ readonly name: string; readonly text: string }> {
    const branch = format === "markdown" && leaf !== null ? { leaf } : {};
    return this.#client.ask("conversation.export", { ...this.#here, format, ...branch });
  }

  listen(listener: FeedListener): () => void {
    return this.watched.follow({
      item: (item) => listener.items([item]),
      renewed: () => listener.items([]),
      stands: (standing) => {
        if (standing !== "live") listener.ended();
      },
    });
  }

  async #whileCompacting<Result>(ask: (id: string) => Promise<Result>): Promise<Result> {
    const id = createId();
    this.#compacting = id;
    try {
      return await ask(id);
    } finally {
      this.#compacting = undefined;
    }
  }

  async #whileReverting<Result>(done: Promise<Result>): Promise<Result> {
    this.#isReverting = true;
    try {
      return await done;
    } finally {
      this.#isReverting = false;
    }
  }

  async #whileOpening<Result>(done: Promise<Result>): Promise<Result> {
    this.#isOpening = true;
    try {
      return await done;
    } finally {
      this.#isOpening = false;
    }
  }

  get #here(): { readonly conversation: string } {
    return { conversation: this.watched.id };
  }

  #ownId(): string {
    const id = createId();
    this.#own.add(id);
    return id;
  }
}

/** What the server says of what goes along. */
function aboutOf(told: Omit<WrittenAbout, "isRedacted"> & { readonly redacted: boolean }): WrittenAbout {
  const { attached, problems, redacted: isRedacted } = told;
  return { attached, problems, isRedacted };
}
