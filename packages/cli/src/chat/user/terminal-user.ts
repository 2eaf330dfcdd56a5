import { existsSync } from "node:fs";
import { type ConversationState, type Delivery, emptyConversation, type UserPart } from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import { counted } from "@banyan/core/shown";
import type { UserCommandContext } from "@banyan/host";
import type { ConversationContext } from "../../commands/command.ts";
import { reportedProblem } from "../../program/problem.ts";
import { type AttachmentReport, attachedLines } from "../../show/attachment-lines.ts";
import { sentenceLines } from "../../show/fit-text.ts";
import { plainLine } from "../../show/plain-text.ts";
import type { LiveTerminal } from "../../terminal/contract/live-terminal.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import { pick } from "../../terminal/pick.ts";
import type { FeedView } from "../../terminal/questions/feed-view.ts";
import type { TalkSession } from "../session/talk-session.ts";
import { ChatView } from "../views/chat-view.ts";
import { titleLine } from "../views/exchange.ts";
import { Interjections } from "./interjections.ts";
import { MessageWriting } from "./message-writing.ts";
import { OwnCommands } from "./own-commands.ts";
import { Pictures } from "./pictures.ts";
import { Standpoint, type StandpointOptions } from "./standpoint.ts";
import type { UnsentTexts } from "./unsent-texts.ts";

export interface TerminalUserOptions {
  readonly terminal: Terminal;
  readonly unsent: UnsentTexts;
  readonly agent: string;
  /** Text of the prompt, with `{agent}` for the agent's name. Default: `Reply to {agent}:`. */
  readonly prompt?: string | undefined;
  readonly isWatching?: boolean;
  readonly context: UserCommandContext;
  session(): Pick<TalkSession, "perform" | "state"> | undefined;
  /** Sends a text to the live run. Resolves when the text is in the log. */
  deliver(text: string, delivery: Delivery): Promise<void>;
  /** Adds the result of a user's command, which the agent gets with the next message. */
  add(parts: readonly UserPart[]): Promise<void>;
  readonly compare: StandpointOptions["compare"];
  readonly rewind: StandpointOptions["rewind"];
}

interface UserPartOfContext extends UsersContext {
  /** Replaces likely secrets in a text. */
  redact(text: string): string;
  /** Continues from the latest leaf. If the user was revising a message, its text is removed from the prompt. */
  goBack(): void;
}

type UsersContext = Pick<ConversationContext, "agent" | "directory" | "goTo" | "leaf" | "screen" | "state" | "write">;

const EMPTY = emptyConversation();

/** The user of a terminal: their view, their input, and their place in a conversation. */
export class TerminalUser {
  readonly terminal: Terminal;
  readonly view: FeedView;
  readonly writing: MessageWriting;
  readonly standpoint: Standpoint;
  readonly interjections: Interjections;
  readonly ownCommands: OwnCommands;
  readonly #pictures = new Pictures({ env: process.env });
  readonly #options: TerminalUserOptions;
  /** Cause of the last log failure, and the last error shown. */
  #loss: unknown;
  #lastTold: unknown;
  readonly #left = new AbortController();
  /** Folders of worktrees by name. */
  readonly #folders = new Map<string, string>();

  constructor(options: TerminalUserOptions) {
    const { terminal, unsent, agent, session, deliver, context, add, compare, rewind } = options;
    this.#options = options;
    this.terminal = terminal;
    this.view = terminal.live?.view ?? new ChatView(terminal);
    this.writing = new MessageWriting(terminal, unsent);
    const shown = { terminal, view: this.view };
    const tell = (error: unknown) => this.tell(error);
    const keep = (parts: readonly UserPart[]) => this.#pictures.keep(parts);
    this.standpoint = new Standpoint({
      ...shown,
      writing: this.writing,
      agent,
      session,
      tell,
      compare,
      rewind,
      keep,
    });
    this.interjections = new Interjections({ ...shown, unsent, deliver, keep });
    this.ownCommands = new OwnCommands({ view: this.view, context, add, worktree: () => this.worktree() });
    terminal.live?.configure({ pictures: this.#pictures });
  }

  /** The conversation's state; empty before the first message. */
  get state(): ConversationState {
    return this.#options.session()?.state ?? EMPTY;
  }

  /** The text of the prompt. It begins with the worktree of the user's branch, such as `(mine) `. */
  get prompt(): string {
    const { agent, isWatching, prompt = "Reply to {agent}:" } = this.#options;
    const worktree = worktreeAt(this.state, this.standpoint.leaf);
    const where = worktree === undefined ? "" : `(${plainLine(worktree)}) `;
    return isWatching ? "You are watching: " : `${where}${prompt.replaceAll("{agent}", () => agent).trimEnd()} `;
  }

  /** Returns the folder of the worktree in which the user's branch works, if the folder is on this machine. */
  async worktree(): Promise<string | undefined> {
    const name = worktreeAt(this.state, this.standpoint.leaf);
    if (name === undefined) return undefined;
    const known = this.#folders.get(name);
    if (known !== undefined && existsSync(known)) return known;
    const listed = await this.#options.session()?.perform("worktree.list", {});
    for (const { name, folder } of listed?.worktrees ?? []) this.#folders.set(name, folder);
    const folder = this.#folders.get(name);
    return folder !== undefined && existsSync(folder) ? folder : undefined;
  }

  get left(): AbortSignal {
    return this.#left.signal;
  }

  leave(): void {
    this.#left.abort();
    this.ownCommands.stop();
  }

  /** Handles a line that is not a command and was typed while the agent works. */
  interject(line: string, later: boolean): void {
    if (line.startsWith("!")) {
      this.terminal.live?.view.command(line);
      this.inBackground(this.ownCommands.run(line));
    } else this.inBackground(this.interjections.say(line, later));
  }

  takeBack(): void {
    const session = this.#options.session();
    if (session) this.inBackground(this.interjections.takeBack(session));
  }

  tellHeld(): void {
    const held = this.state.inbox.filter((input) => input.held).length;
    if (held > 0)
      this.view.note(`${counted(held, "message")} held back. /waiting lists them, /waiting send sends them.`);
  }

  /** Returns the text as a message with the images that it marks. Throws a `UsageError` if the images are too large. */
  written(text: string): readonly UserPart[] {
    const { parts, unknown } = this.#pictures.written(text);
    for (const name of unknown)
      this.view.note(
        `[image: ${plainLine(name)}] has no picture and is sent as text. Paste the picture again to send it.`,
      );
    return parts;
  }

  /** Shows which files are attached, which are not, and which could be. */
  tellAttached(about: AttachmentReport, offered: readonly string[] = []): void {
    // A full terminal offers files while the user types, and shows attachments below the message.
    const [report, also] = this.terminal.live ? [{ ...about, attached: [] }, []] : [about, offered];
    for (const line of attachedLines(report, also)) this.view.note(line);
  }

  /** Shows the error of work that the user does not wait for. */
  inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.tell(error));
  }

  /** Shows why the log failed, and what follows. Other work fails with the same error, which is shown once (F37). */
  tellLoss(problem: Error): void {
    const origin = problem.cause ?? problem;
    if (this.#lastTold !== origin) this.tell(problem);
    this.#loss = origin;
    this.view.note("Your next message reopens the conversation, with everything that was saved.");
  }

  tell(error: unknown): void {
    if (error === this.#loss) return;
    this.#lastTold = error;
    this.view.say(`${this.terminal.style.bad("Not done:")} ${plainLine(reportedProblem(error).message)}`);
  }

  get context(): UserPartOfContext {
    const { agent, context } = this.#options;
    const { style, columns, live } = this.terminal;
    return {
      agent,
      state: this.state,
      leaf: this.standpoint.leaf,
      directory: context.directory,
      redact: context.redact,
      screen: {
        style,
        columns,
        keys: live?.keyTable,
        copy: (text) => this.terminal.copy(text),
        typeIn: (text) => this.writing.put(text),
        pick: (list) => pick(this.terminal, list, this.left),
        pickMessage: live && (() => this.standpoint.pick()),
        viewAgents: live && (() => viewAgents(live, this.state)),
        viewBranch: live && (() => viewBranch(live, this.state, this.standpoint)),
      },
      write: (...lines) => {
        for (const line of lines.flatMap((line) => sentenceLines(line, columns))) this.view.line(line);
      },
      goTo: (message) => this.standpoint.goTo(message),
      goBack: () => {
        this.standpoint.goBack();
        this.writing.takeDraft();
      },
    };
  }
}

/** Shows the sub-agents of a conversation until the user goes back. There must be at least one. */
async function viewAgents(live: LiveTerminal, state: ConversationState): Promise<void> {
  const { AgentsView } = await import("../../terminal/full/views/agents-view.ts");
  await live.open(new AgentsView(state));
}

async function viewBranch(live: LiveTerminal, state: ConversationState, standpoint: Standpoint): Promise<void> {
  const { Viewer } = await import("../../terminal/full/overlay/viewer.ts");
  const { branchPage } = await import("../../terminal/full/transcript/message-lines.ts");
  const page = branchPage(titleLine(state, standpoint.leaf), state, () => standpoint.leaf);
  await live.open(new Viewer([page], { atEnd: true }));
}
