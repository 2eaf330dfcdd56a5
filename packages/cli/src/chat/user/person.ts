import { type ConversationState, type Delivery, emptyConversation, type UserPart } from "@banyan/core";
import { counted } from "@banyan/core/shown";
import type { CommandPlace, TakenBack } from "@banyan/host";
import type { ConversationContext } from "../../commands/command.ts";
import { problemOf } from "../../problem.ts";
import { attachedLines, type WrittenAbout } from "../../show/attached.ts";
import { sentenceLines } from "../../show/fit-text.ts";
import { oneLine } from "../../show/plain-text.ts";
import type { FeedView } from "../../terminal/feed-view.ts";
import type { LiveTerminal } from "../../terminal/full/live-terminal.ts";
import { pick } from "../../terminal/pick.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { TalkSession } from "../talk/talk-session.ts";
import { ChatView } from "../views/chat-view.ts";
import { titleLine } from "../views/exchange.ts";
import { Interjections } from "./interjections.ts";
import type { LeftBranch } from "./leave-files.ts";
import { OwnCommands } from "./own-commands.ts";
import { Pictures } from "./pictures.ts";
import { Standpoint } from "./standpoint.ts";
import type { Unsent } from "./unsent.ts";
import { Writing } from "./writing.ts";

/** Where a person sits, and how what they do gets into the conversation: one of this process, or of a server. */
export interface PersonOptions {
  readonly terminal: Terminal;
  readonly unsent: Unsent;
  /** What people call the agent. */
  readonly agent: string;
  /** What their prompt says, `{agent}` being the agent's name: `Reply to {agent}:` when absent. */
  readonly prompt?: string | undefined;
  /** They can say nothing: the conversation is shown to them. */
  readonly isWatching?: boolean;
  /** Where commands of their own run. */
  readonly place: CommandPlace;
  /** The conversation; none before the first message. */
  session(): Pick<TalkSession, "perform" | "state"> | undefined;
  /** Says a text to the run under way; resolves when it is in the log. */
  deliver(text: string, delivery: Delivery): Promise<void>;
  /** Adds what a command of their own came to, which the agent gets with what is said next. */
  add(parts: readonly UserPart[]): Promise<void>;
  /** Puts the files of a branch that is left back to what they were before it. */
  revert(left: LeftBranch): Promise<TakenBack>;
}

/** The part of a command's context that belongs to the user and the terminal. */
interface Context extends UsersContext {
  /** Takes what looks like a secret out of a text. */
  redact(text: string): string;
  /** The next message goes where the conversation was last written to; what was typed comes back. */
  goBack(): void;
}

type UsersContext = Pick<
  ConversationContext,
  | "agent"
  | "columns"
  | "copy"
  | "directory"
  | "goTo"
  | "typeIn"
  | "keys"
  | "leaf"
  | "pick"
  | "pickMessage"
  | "state"
  | "style"
  | "viewAgents"
  | "viewBranch"
  | "write"
>;

const EMPTY = emptyConversation();

/** A person at a terminal: what they see, what they write, and where they stand in a conversation, wherever that is. */
export class Person {
  readonly terminal: Terminal;
  readonly view: FeedView;
  readonly writing: Writing;
  readonly standpoint: Standpoint;
  readonly interjections: Interjections;
  readonly ownCommands: OwnCommands;
  readonly #pictures = new Pictures({ env: process.env });
  readonly #options: PersonOptions;
  /** Why the last log failed that did, and what they were told last. */
  #loss: unknown;
  #lastTold: unknown;
  /** Aborts when they leave. */
  readonly #left = new AbortController();

  constructor(options: PersonOptions) {
    const { terminal, unsent, agent, session, deliver, place, add, revert } = options;
    this.#options = options;
    this.terminal = terminal;
    this.view = terminal.live?.view ?? new ChatView(terminal);
    this.writing = new Writing(terminal, unsent);
    const shown = { terminal, view: this.view };
    const tell = (error: unknown) => this.tell(error);
    const keep = (parts: readonly UserPart[]) => this.#pictures.keep(parts);
    this.standpoint = new Standpoint({ ...shown, writing: this.writing, agent, session, tell, revert, keep });
    this.interjections = new Interjections({ ...shown, unsent, deliver, keep });
    this.ownCommands = new OwnCommands({ view: this.view, place, add });
    // The agent may be at work before anything is asked here.
    terminal.live?.configure({ prompt: this.prompt, pictures: this.#pictures });
  }

  /** The conversation; empty before the first message. */
  get state(): ConversationState {
    return this.#options.session()?.state ?? EMPTY;
  }

  get prompt(): string {
    const { agent, isWatching, prompt = "Reply to {agent}:" } = this.#options;
    return isWatching ? "You are watching: " : `${prompt.replaceAll("{agent}", () => agent).trimEnd()} `;
  }

  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** They go: what they have begun themselves ends. */
  leave(): void {
    this.#left.abort();
    this.ownCommands.stop();
  }

  /** A line that is no command of the program, and was typed while the agent works. */
  interject(line: string, later: boolean): void {
    if (line.startsWith("!")) {
      this.terminal.live?.view.command(line);
      this.inBackground(this.ownCommands.run(line));
    } else this.inBackground(this.interjections.say(line, later));
  }

  /** Takes back what waits for the agent. */
  takeBack(): void {
    const session = this.#options.session();
    if (session) this.inBackground(this.interjections.takeBack(session));
  }

  /** Says that something is held back, if so. */
  tellHeld(): void {
    const held = this.state.inbox.filter((input) => input.held).length;
    if (held > 0)
      this.view.note(`${counted(held, "message")} held back. /waiting lists them, /waiting send sends them.`);
  }

  /** What they wrote as a message, with the pictures whose marks stand in it. Throws a `UsageError` when these are too much. */
  written(text: string): readonly UserPart[] {
    const { parts, unknown } = this.#pictures.written(text);
    for (const name of unknown)
      this.view.note(`No picture is known for [image: ${oneLine(name)}]: it goes as text. Paste it again to send it.`);
    return parts;
  }

  /** Says what goes along with what they wrote, what does not, and what is offered. */
  tellAttached(about: WrittenAbout, offered: readonly string[] = []): void {
    // A screen that is redrawn has offered it while it was written, and shows what goes along below the message.
    const [told, also] = this.terminal.live ? [{ ...about, attached: [] }, []] : [about, offered];
    for (const line of attachedLines(told, also)) this.view.note(line);
  }

  /** They may do something else meanwhile; what fails is told. */
  inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.tell(error));
  }

  /**
   * Says why the log of the conversation failed, and what follows. Whoever waited for something hears of it too, before this
   * or after it: it is said once (F37).
   */
  tellLoss(problem: Error): void {
    const origin = problem.cause ?? problem;
    if (this.#lastTold !== origin) this.tell(problem);
    this.#loss = origin;
    this.view.note("Your next message opens it again, as far as it was saved.");
  }

  /** Says what could not be done, and why. */
  tell(error: unknown): void {
    if (error === this.#loss) return;
    this.#lastTold = error;
    this.view.say(`${this.terminal.style.bad("Not done:")} ${oneLine(problemOf(error).message)}`);
  }

  /** What every command sees of a chat, and can do with it. */
  get context(): Context {
    const { agent, place } = this.#options;
    const { style, columns, live } = this.terminal;
    return {
      agent,
      style,
      columns,
      state: this.state,
      leaf: this.standpoint.leaf,
      copy: (text) => this.terminal.copy(text),
      directory: place.directory,
      redact: place.redact,
      keys: live?.keyTable,
      viewAgents: live && (() => viewAgents(live, this.state)),
      viewBranch: live && (() => viewBranch(live, this.state, this.standpoint)),
      write: (...lines) => {
        for (const line of lines.flatMap((line) => sentenceLines(line, columns))) this.view.line(line);
      },
      pickMessage: live && (() => this.standpoint.pick()),
      pick: (list) => pick(this.terminal, list, this.left),
      goTo: (message) => this.standpoint.goTo(message),
      typeIn: (text) => this.writing.put(text),
      goBack: () => {
        this.standpoint.goBack();
        this.writing.takeDraft();
      },
    };
  }
}

/** Shows the sub-agents of a conversation until the person goes back. There must be some. */
async function viewAgents(live: LiveTerminal, state: ConversationState): Promise<void> {
  const { AgentsView } = await import("../../terminal/full/views/agents-view.ts");
  await live.open(new AgentsView(state));
}

/** Shows the branch on which a person stands, its end at first, until they go back. */
async function viewBranch(live: LiveTerminal, state: ConversationState, standpoint: Standpoint): Promise<void> {
  const { Viewer } = await import("../../terminal/full/views/viewer.ts");
  const { pathPage } = await import("../../terminal/full/transcript/message-lines.ts");
  const page = pathPage(titleLine(state, standpoint.leaf), state, () => standpoint.leaf);
  await live.open(new Viewer([page], { atEnd: true }));
}
