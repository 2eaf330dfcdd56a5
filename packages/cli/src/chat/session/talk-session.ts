import type { Client, CommandValues, WatchedConversation } from "@banyan/client";
import {
  type Answer,
  type ConversationState,
  createId,
  type Delivery,
  type Directive,
  type FeedItem,
  type Session,
  type UserPart,
} from "@banyan/core";
import type { Call, LiveRun, Preview } from "@banyan/core/conversation";
import type { FeedListener } from "@banyan/core/hosts";
import { type RestorationResult, unfinishedMode } from "@banyan/host";
import { type Command, type CommandName, type NarrowedRule, offersSandbox, type Result } from "@banyan/protocol";
import type { AttachmentReport } from "../../show/attachment-lines.ts";

/** A conversation, in this process or on a server, that can ask the user questions. */
export interface AskingSession extends Pick<Session, "listen" | "state"> {
  /**
   * Resolves with the reason if a rule could not be stored. `approval` is the mode for an approved plan, or `sandbox`,
   * which becomes the approval mode.
   */
  answer(question: string, answer: Answer, approval?: AnswerApproval): Promise<unknown>;
  /** Returns whether an answer about the call may also set approval mode `sandbox` (S37). Absent: never. */
  offersSandbox?(call: Call, preview: Preview | undefined): boolean;
  /** Allows all edits until this run ends. Absent if the server does not support that. */
  allowChanges?(run: string): Promise<void>;
}

/** An approval mode that an answer sets. */
export type AnswerApproval = Command<"question.answer">["approval"];

const NOTHING: AttachmentReport = { attached: [], problems: [], isRedacted: false };

export interface TalkTurnOptions {
  /** The message to continue from. Default: the latest leaf. */
  readonly at: string | undefined;
  readonly mode: "chat" | "task";
  readonly model?: string | undefined;
  /** Named agent that takes the turn. Default: the conversation's agent. */
  readonly agent?: string | undefined;
  /** True if the user did not write the text. Files that the text names are then not attached. */
  readonly asIs?: boolean | undefined;
  /** The conditions for the end of the turn. */
  readonly goal?: readonly string[] | undefined;
}

/** A prompt that the server expands. */
export interface PromptDirective {
  readonly type: "prompt";
  readonly prompt: string;
  readonly argument: string;
}

type ConversationCommand = {
  [Name in CommandName]: "conversation" extends keyof Command<Name> ? Name : never;
}[CommandName];

type ConversationCommandInput<Name extends ConversationCommand> = Omit<CommandValues<Name>, "conversation">;

/** The user's conversation, in this process or on a server. */
export class TalkSession implements AskingSession {
  readonly watched: WatchedConversation;
  readonly #client: Client;
  /** Ids of this client's messages, and of its runs that have no message. */
  readonly #own = new Set<string>();
  readonly #added = new Set<string>();
  /**
   * Commands with which this client sent one text to several branches. The ids of the resulting messages begin with the
   * command's id.
   */
  readonly #fanned = new Set<string>();
  #isReverting = false;
  #isOpening = false;
  #compacting: string | undefined;

  constructor(client: Client, watched: WatchedConversation) {
    this.#client = client;
    this.watched = watched;
  }

  get id(): string {
    return this.watched.id;
  }

  get state(): ConversationState {
    return this.watched.state;
  }

  /** Runs that another process left unfinished. */
  get interrupted(): readonly LiveRun[] {
    return this.watched.tree?.interrupted ?? [];
  }

  /** Permission rules that now allow less than when the user added them, as the server reports. */
  get narrowed(): readonly NarrowedRule[] {
    return this.watched.tree?.narrowed ?? [];
  }

  get live(): readonly LiveRun[] {
    const left = new Set(this.interrupted.map(({ id }) => id));
    return [...this.state.runs.values()].filter(({ id }) => !left.has(id));
  }

  /** Returns whether this client made one of these messages or runs. */
  isOwn(...ids: readonly (string | null)[]): boolean {
    return ids.some((id) => id !== null && this.#own.has(id));
  }

  /** Returns whether this client caused the item and has already shown its effect. */
  isShown(item: FeedItem): boolean {
    if (item.type === "file.changed") return this.#isReverting;
    if (item.type !== "message.added") return false;
    if (item.role === "user" && item.author === "system")
      return this.#isOpening || (item.worktree === undefined && this.#isReverting);
    if (this.isAside(item.message)) return true;
    // A queued message is shown when it is delivered.
    return this.#added.has(item.message) && !this.state.inbox.some(({ id }) => id === item.message);
  }

  /**
   * Resolves when the contents of messages are known; a restarted server sends them later. Rejects with `ClientError`.
   */
  read(): Promise<void> {
    return this.watched.read();
  }

  /** Sends a command about this conversation. Remembers ids whose effects this client shows itself. */
  perform<Name extends ConversationCommand>(type: Name, input: ConversationCommandInput<Name>): Promise<Result<Name>> {
    const ask = (id: string) =>
      this.#client.ask(type, { ...this.#here, ...input } as unknown as CommandValues<Name>, id);
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
      case "file.rewind":
        return this.#whileReverting(ask(createId()));
      default:
        return ask(createId());
    }
  }

  /** Begins a turn. Resolves with the attachments of the message after the turn has begun. */
  async turn(
    directive: Exclude<Directive, { type: "stop" }> | PromptDirective,
    how: TalkTurnOptions,
  ): Promise<AttachmentReport> {
    const { type } = directive;
    const { at, model, agent, asIs, goal } = how;
    // A turn of another agent is a question with an answer.
    const mode = agent === undefined ? how.mode : "chat";
    const by = { ...(model !== undefined && { model }), ...(agent !== undefined && { agent }), ...(goal && { goal }) };
    const place = { ...this.#here, mode, ...(at !== undefined && { at }), ...by };
    switch (type) {
      case "say":
        return attachmentReport(
          await this.#client.ask(
            "turn.say",
            { ...place, parts: directive.parts, ...(asIs && { asIs }) },
            this.#ownId(),
          ),
        );
      case "prompt": {
        const { prompt, argument } = directive;
        return attachmentReport(await this.#client.ask("prompt.say", { ...place, prompt, argument }, this.#ownId()));
      }
      case "retry": {
        const parts = directive.parts ? { parts: directive.parts } : {};
        return attachmentReport(await this.#client.ask("turn.retry", { ...place, ...parts }, this.#ownId()));
      }
      case "resume":
        await this.#client.ask("turn.resume", { ...place, mode: unfinishedMode(this, at) ?? mode }, this.#ownId());
        return NOTHING;
    }
  }

  /** Sends a message to a run. If the run is over, the message begins a turn. */
  async say(
    parts: readonly UserPart[],
    to: { readonly run: string; readonly delivery: Delivery; readonly mode: TalkTurnOptions["mode"] },
  ): Promise<AttachmentReport> {
    return attachmentReport(await this.#client.ask("turn.say", { ...this.#here, parts, ...to }, this.#ownId()));
  }

  /** Adds a message without a turn, or sends it to a run. Returns the message's id, unless the message is queued. */
  async add(
    parts: readonly UserPart[],
    to: { readonly at: string | null; readonly run?: string | undefined },
  ): Promise<string | undefined> {
    const id = this.#ownId();
    this.#added.add(id);
    const { message, waits } = await this.#client.ask("message.add", { ...this.#here, parts, ...to }, id);
    return waits ? undefined : message;
  }

  /** Ends the user's compaction, else the run `shown`, else all runs. Resolves with the number of ended runs. */
  async interrupt(shown: string | undefined): Promise<number> {
    const run = this.#compacting ?? shown;
    const there = { ...this.#here, ...(run === undefined ? {} : { run }) };
    return (await this.#client.ask("run.interrupt", there)).interrupted;
  }

  /** Compares the files with those at an earlier message. */
  compare(place: Omit<CommandValues<"file.compare">, "conversation">): Promise<Result<"file.compare">> {
    return this.#client.ask("file.compare", { ...this.#here, ...place });
  }

  /** Restores files as they were at an earlier message. */
  rewind(place: Omit<CommandValues<"file.rewind">, "conversation">): Promise<Result<"file.rewind">> {
    return this.perform("file.rewind", place);
  }

  /** Reverts the files that a call changed. `agreed`: also restores contents from a log of another machine. */
  undo(call: string, leaf: string, agreed: boolean): Promise<RestorationResult> {
    return this.#whileReverting(
      this.#client.ask("file.undo", { ...this.#here, leaf, call, ...(agreed && { agreed }) }),
    );
  }

  /** Returns whether this client sent the message to several branches. The user then stays on the current branch. */
  isAside(message: string | null): boolean {
    return message !== null && this.#fanned.has(message.slice(0, message.lastIndexOf(".")));
  }

  offersSandbox(call: Call, preview: Preview | undefined): boolean {
    return offersSandbox(this.#client.welcome.settings, this.id, call, preview);
  }

  async answer(question: string, answer: Answer, approval?: AnswerApproval): Promise<string | undefined> {
    const input = { ...this.#here, question, answer, ...(approval && { approval }) };
    return (await this.#client.ask("question.answer", input)).problem;
  }

  async allowChanges(run: string): Promise<void> {
    await this.#client.ask("approval.use", { mode: "edits", run });
  }

  /** The conversation as a file. Markdown contains only the branch of `leaf`. */
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

function attachmentReport(
  result: Omit<AttachmentReport, "isRedacted"> & { readonly redacted: boolean },
): AttachmentReport {
  const { attached, problems, redacted: isRedacted } = result;
  return { attached, problems, isRedacted };
}
