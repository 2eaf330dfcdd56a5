import type { FeedItem, UserPart } from "@banyan/core";
import { type ConversationState, emptyConversation, pathTo } from "@banyan/core";
import { isUserMessage, typedText, worktreeAt } from "@banyan/core/conversation";
import type { Result } from "@banyan/protocol";
import { wrapSentence } from "../../show/fit-text.ts";
import type { LiveTerminal } from "../../terminal/contract/live-terminal.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import type { FeedView } from "../../terminal/questions/feed-view.ts";
import type { TalkSession } from "../session/talk-session.ts";
import { brokenTurnLines, lastExchange, titleLine } from "../views/exchange.ts";
import { type UnfinishedConversation, unfinishedLines } from "../views/unfinished-lines.ts";
import { type FileComparison, leaveFiles } from "./leave-files.ts";
import type { MessageWriting } from "./message-writing.ts";

/** Parent of the user's next message. */
export interface NextMessageTarget {
  /**
   * The parent of the next message. With `revise`: the message that the next message replaces. Default: the latest
   * leaf.
   */
  readonly at?: string;
  readonly revise?: boolean;
}

/** The branch that ends at `leaf`, and the message to go back to. Without a message: the root. */
export interface EarlierPlace {
  readonly leaf: string;
  readonly to?: string;
  /** Set this instead of `to`, to restore the files to their state before the latest rewind. */
  readonly undo?: true;
}

export interface StandpointOptions {
  readonly terminal: Terminal;
  readonly view: FeedView;
  readonly writing: MessageWriting;
  readonly agent: string;
  session(): PickOptions["session"] | undefined;
  tell(error: unknown): void;
  /** Compares the files with those at a message; undefined if the user cannot restore files there. */
  compare(place: EarlierPlace): Promise<FileComparison | undefined>;
  rewind(
    place: EarlierPlace & { readonly asOf: number; readonly paths?: readonly string[] },
  ): Promise<Result<"file.rewind">>;
  /** Keeps the attachments of a text that is sent again. */
  keep(parts: readonly UserPart[]): void;
}

const HERE: NextMessageTarget = {};
const EMPTY = emptyConversation();

/** The user's place in a conversation, which decides the parent of their next message. */
export class Standpoint {
  readonly #options: StandpointOptions;
  #target = HERE;

  constructor(options: StandpointOptions) {
    this.#options = options;
  }

  get #state(): ConversationState {
    return this.#options.session()?.state ?? EMPTY;
  }

  /** The end of the user's branch, without a pending revision. */
  get leaf(): string | null {
    return this.#target.at ?? this.#state.leaf;
  }

  get target(): NextMessageTarget {
    return this.#target;
  }

  /** Parent of the next message; `null` at the root. */
  get below(): string | null {
    const { at, revise } = this.#target;
    return at !== undefined && revise ? (this.#state.messages.get(at)?.parentId ?? null) : this.leaf;
  }

  /** Continues from a message, without output. */
  standAt(at: string): void {
    this.#target = { at };
  }

  /**
   * A message was written at the user's place, which moves to it. A user without a chosen place stays at the latest
   * leaf, also after messages of others.
   */
  wrote(message: string | undefined): void {
    if (message !== undefined && this.#target.at !== undefined) this.standAt(message);
  }

  /** Continues from the latest leaf. */
  goBack(): void {
    this.#target = HERE;
  }

  /** Returns whether the user wants to leave for another message (`null`: root), after seeing the files that remain. */
  async mayLeaveFor(to: string | null): Promise<boolean> {
    const { leaf } = this;
    if (leaf === null) return true;
    // A branch with its own worktree keeps its files when the user leaves.
    if (worktreeAt(this.#state, leaf) !== worktreeAt(this.#state, to)) return true;
    const place = { leaf, ...(to !== null && { to }) };
    const comparison = await this.#options.compare(place);
    const asOf = comparison?.asOf;
    if (!comparison || asOf === undefined || !comparison.files.some(({ by }) => by !== "others")) return true;
    const rewind = (paths: readonly string[]) => this.#options.rewind({ ...place, asOf, paths });
    return (await leaveFiles(comparison, { ...this.#options, rewind })) === "leave";
  }

  /** Asks like `mayLeaveFor` before the last user message on the path to `at` gets another answer or other words. */
  async mayRetry(at = this.leaf): Promise<boolean> {
    const path = pathTo(this.#state, at);
    const last = path.findLast(isUserMessage);
    return this.mayLeaveFor(last?.parentId ?? null);
  }

  /** Lets the user choose a message in the tree. Undefined without a choice, and on a plain terminal. */
  async pick(selected?: string): Promise<string | undefined> {
    const { terminal, agent, session: current, tell } = this.#options;
    const [{ live }, session] = [terminal, current()];
    return live && session && pickMessage(live, { session, agent, leaf: this.leaf, selected, tell });
  }

  /** Goes back to an earlier message of the user's choice. The last own message is selected (T7). */
  async rewind(): Promise<void> {
    const own = pathTo(this.#state, this.leaf).findLast(isUserMessage);
    const message = await this.pick(own?.id);
    if (message !== undefined) await this.goTo(message);
  }

  /** Continues from another message if the user agrees. An own message returns to the prompt, to be revised. */
  async goTo(id: string): Promise<void> {
    const { terminal, view, writing, agent, keep } = this.#options;
    const message = this.#state.messages.get(id);
    if (!message) return;
    const isOwn = isUserMessage(message);
    const at = isOwn ? id : toldSince(this.#state, id);
    const to = isOwn ? message.parentId : at;
    if (!(await this.mayLeaveFor(to))) return;
    this.#target = isOwn ? { at, revise: true } : { at };
    if (isOwn) {
      keep(message.parts);
      writing.put(typedText(message));
    }
    if (to !== null) remind(terminal, this.#state, to, agent);
    view.note(
      isOwn ? "Edit and resend. The original stays as another branch." : "Your next message continues from here.",
    );
  }
}

/** Returns the message, or the last system note below it (such as about reverted files) if only notes follow. */
function toldSince(state: ConversationState, id: string): string {
  const isNote = (child: string): boolean => {
    const message = state.messages.get(child);
    return message?.role === "user" && message.author === "system" && !message.removed && below(child).every(isNote);
  };
  const below = (parent: string) => state.children.get(parent) ?? [];
  const note = below(id).findLast(isNote);
  return note === undefined ? id : toldSince(state, note);
}

export interface PickOptions {
  readonly session: Pick<TalkSession, "perform" | "state">;
  readonly agent: string;
  readonly leaf: string | null;
  readonly selected?: string | undefined;
  readonly tell: (error: unknown) => void;
}

async function pickMessage(live: LiveTerminal, options: PickOptions): Promise<string | undefined> {
  const { session, agent, leaf, selected, tell } = options;
  const { TreeView } = await import("../../terminal/full/views/tree-view.ts");
  const change = (changed: Promise<unknown>) => {
    changed.then(() => live.refresh()).catch(tell);
  };
  const tree = new TreeView({
    state: session.state,
    agent,
    leaf,
    ...(selected !== undefined && { selected }),
    onLabel: (message, label) => change(session.perform("message.label", { message, label })),
    onStar: (message, starred) => change(session.perform("message.star", { message, starred })),
  });
  return live.open(tree);
}

/** Prints the place in a conversation: the last screens of the branch, or the last exchange on a plain terminal. */
function remind(terminal: Terminal, state: ConversationState, leaf: string | null, agent: string): void {
  const { columns, style, live } = terminal;
  const end = live?.branchEnd(state, leaf);
  const above = end && end.above > 0 ? `, ${end.above} of them above: /transcript shows all` : "";
  // A full terminal shows the rest of the plan above the prompt.
  const lines = end
    ? ["", ...end.lines, ...brokenTurnLines(state, leaf, terminal)]
    : lastExchange(state, leaf, agent, { columns, style });
  const title = wrapSentence(style.dim(titleLine(state, leaf) + above), columns);
  for (const line of ["", title, ...lines]) terminal.write(`${line}\n`);
}

/** Prints the user's place in a conversation that was just opened, and what an earlier process left unfinished. */
export function remindOfUnfinished(
  terminal: Terminal,
  session: UnfinishedConversation,
  leaf: string | null,
  agent: string,
): void {
  remind(terminal, session.state, leaf, agent);
  for (const line of unfinishedLines(session, terminal.columns, terminal.style)) terminal.write(`${line}\n`);
}

/** Returns true if an item ends an earlier process's unfinished run. The user already knows about this run. */
export function isKnownInterruption(
  { interrupted }: Pick<UnfinishedConversation, "interrupted">,
  item: FeedItem,
): boolean {
  return item.type === "run.ended" && interrupted.some(({ id }) => id === item.run);
}
