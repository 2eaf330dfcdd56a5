import type { FeedItem, UserPart } from "@banyan/core";
import { type ConversationState, emptyConversation, pathTo } from "@banyan/core";
import { isPersons, typedText, worktreeAt } from "@banyan/core/conversation";
import { changesOf, type TakenBack } from "@banyan/host";
import { wrap } from "../../show/fit-text.ts";
import type { FeedView } from "../../terminal/feed-view.ts";
import type { LiveTerminal } from "../../terminal/full/live-terminal.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { TalkSession } from "../talk/talk-session.ts";
import { brokenLines, lastExchange, titleLine } from "../views/exchange.ts";
import { type Left, leftBehind } from "../views/left-behind.ts";
import { type LeftBranch, leaveFiles } from "./leave-files.ts";
import type { Writing } from "./writing.ts";

/** Where the next message goes. */
export interface Place {
  /** The message that it goes below, or, to be revised, beside; the last one written when absent. */
  readonly at?: string;
  readonly revise?: boolean;
}

/** What a standpoint is about. */
export interface StandpointOptions {
  readonly terminal: Terminal;
  readonly view: FeedView;
  readonly writing: Writing;
  /** What people call the agent. */
  readonly agent: string;
  /** The conversation; none before the first message. */
  session(): PickOptions["session"] | undefined;
  /** Tells what could not be done. */
  tell(error: unknown): void;
  /** Puts the files of a branch that is left back to what they were before it. */
  revert(left: LeftBranch): Promise<TakenBack>;
  /** Keeps what goes along with a text that is said again. */
  keep(parts: readonly UserPart[]): void;
}

const HERE: Place = {};
const EMPTY = emptyConversation();

/** Where a person stands in a conversation: where what they say next goes. */
export class Standpoint {
  readonly #options: StandpointOptions;
  #place = HERE;

  constructor(options: StandpointOptions) {
    this.#options = options;
  }

  get #state(): ConversationState {
    return this.#options.session()?.state ?? EMPTY;
  }

  /** The message that the next one goes below, as far as it is there already. */
  get leaf(): string | null {
    return this.#place.at ?? this.#state.leaf;
  }

  get place(): Place {
    return this.#place;
  }

  /** The message below which something new stands; `null` at a root. */
  get below(): string | null {
    const { at, revise } = this.#place;
    return at !== undefined && revise ? (this.#state.messages.get(at)?.parentId ?? null) : this.leaf;
  }

  /** Goes on below a message, without a word. */
  standAt(at: string): void {
    this.#place = { at };
  }

  /**
   * Something was written where the person stands: they stand behind it. Who goes on where the conversation was last
   * written to does so still: behind what others have said meanwhile, and not beside it.
   */
  wrote(message: string | undefined): void {
    if (message !== undefined && this.#place.at !== undefined) this.standAt(message);
  }

  /** Goes on where the conversation was last written to. Returns where the next message was to go. */
  goBack(): Place {
    const place = this.#place;
    this.#place = HERE;
    return place;
  }

  /** Whether the person, told of what is left behind, wants to go on below another message, at the root for `null`. */
  async mayLeaveFor(to: string | null): Promise<boolean> {
    const { leaf } = this;
    if (leaf === null) return true;
    // What has files of its own leaves nothing behind for who goes elsewhere.
    const place = worktreeAt(this.#state, to);
    const files = changesOf(this.#state, leaf, to).filter(({ worktree }) => worktree === place);
    return files.length === 0 || leaveFiles({ leaf, to, files }, this.#options);
  }

  /** The same for another answer to, or other words for, what was said last on the way to a message. */
  async mayRetry(at = this.leaf): Promise<boolean> {
    const path = pathTo(this.#state, at);
    const last = path.findLast(isPersons);
    return this.mayLeaveFor(last?.parentId ?? null);
  }

  /** Lets the person choose a message in the tree; nothing when none is chosen, or where nothing is redrawn. */
  async pick(selected?: string): Promise<string | undefined> {
    const { terminal, agent, session: current, tell } = this.#options;
    const [{ live }, session] = [terminal, current()];
    return live && session && pickMessage(live, { session, agent, leaf: this.leaf, selected, tell });
  }

  /** Goes back to an earlier message, at first the last own one (T7). */
  async rewind(): Promise<void> {
    const own = pathTo(this.#state, this.leaf).findLast(isPersons);
    const message = await this.pick(own?.id);
    if (message !== undefined) await this.goTo(message);
  }

  /** Goes on from another message, unless the person stays after all. An own message goes back into the prompt, to be said in other words. */
  async goTo(id: string): Promise<void> {
    const { terminal, view, writing, agent, keep } = this.#options;
    const message = this.#state.messages.get(id);
    if (!message) return;
    const isOwn = isPersons(message);
    const at = isOwn ? id : toldSince(this.#state, id);
    const to = isOwn ? message.parentId : at;
    if (!(await this.mayLeaveFor(to))) return;
    this.#place = isOwn ? { at, revise: true } : { at };
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

/** A message, or what the system has said below it since, as of files that were put back, and nobody has answered. */
function toldSince(state: ConversationState, id: string): string {
  const isNote = (child: string): boolean => {
    const message = state.messages.get(child);
    return message?.role === "user" && message.author === "system" && !message.removed && below(child).every(isNote);
  };
  const below = (parent: string) => state.children.get(parent) ?? [];
  const note = below(id).findLast(isNote);
  return note === undefined ? id : toldSince(state, note);
}

/** In which tree a message is chosen, and from where. */
export interface PickOptions {
  readonly session: Pick<TalkSession, "perform" | "state">;
  /** What people call the agent. */
  readonly agent: string;
  /** Where the person stands. */
  readonly leaf: string | null;
  /** The message that is selected at first. */
  readonly selected?: string | undefined;
  /** Told what could not be done. */
  readonly tell: (error: unknown) => void;
}

/** Lets a person choose a message in the tree; nothing when none is chosen. */
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

/**
 * Writes where a conversation stands at a message: the last screens of the branch, as they stood in the transcript; where
 * nothing is redrawn the last exchange.
 */
function remind(terminal: Terminal, state: ConversationState, leaf: string | null, agent: string): void {
  const { columns, style, live } = terminal;
  const end = live?.branchEnd(state, leaf);
  const above = end && end.above > 0 ? `, ${end.above} of them above: /transcript shows all` : "";
  // What is left of the plan stands above the prompt there.
  const lines = end
    ? ["", ...end.lines, ...brokenLines(state, leaf, terminal)]
    : lastExchange(state, leaf, agent, { columns, style });
  const title = wrap(style.dim(titleLine(state, leaf) + above), columns);
  for (const line of ["", title, ...lines]) terminal.write(`${line}\n`);
}

/** The same for a conversation that was just opened, with what was left behind in it. */
export function remindOpened(terminal: Terminal, session: Left, leaf: string | null, agent: string): void {
  remind(terminal, session.state, leaf, agent);
  for (const line of leftBehind(session, terminal.columns, terminal.style)) terminal.write(`${line}\n`);
}

/** Whether an item tells that a run ended which a process before left behind: that was said when the conversation was opened. */
export function isReminded({ interrupted }: Pick<Left, "interrupted">, item: FeedItem): boolean {
  return item.type === "run.ended" && interrupted.some(({ id }) => id === item.run);
}
