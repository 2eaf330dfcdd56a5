import type { ConversationState } from "@banyan/core";
import type { FeedView } from "../feed-view.ts";
import type { AttentionHow } from "./attention.ts";
import type { KeyRow, KeySettings } from "./keys/key-bindings.ts";
import type { Suggestion } from "./prompt/completion.ts";
import type { CommandName } from "./prompt/completions.ts";
import type { WaitedAs } from "./prompt/prompt.ts";
import type { LiveView } from "./transcript/live-view.ts";
import type { BranchEnd } from "./transcript/message-lines.ts";
import type { Overlay } from "./views/overlay.ts";
import type { Status } from "./views/status-line.ts";

/** What becomes of something that was pasted. */
export interface Pasted {
  readonly text: string;
  /** Why something in it is no picture that could go along, though its name says so. */
  readonly problem?: string;
}

/** Makes marks of pictures, which stand for them in what is written (T50). */
export interface PictureSource {
  /** A pasted text, with marks in place of the pictures that it names. */
  pasted(text: string): Pasted;
  /** Resolves with the mark of the picture in the clipboard. Rejects with a sentence where there is none. */
  fromClipboard(): Promise<string>;
}

/** What can be known only once a host is open. */
export interface LiveSettings {
  /** What stands above the prompt, before it is asked for anything too. */
  readonly prompt?: string;
  /** Which key does what, where that differs from the defaults (T13). */
  readonly keys?: KeySettings;
  /** The colours: the name of a theme, or a file of them. */
  readonly theme?: string;
  /** Whether the prompt has the keys of vi. */
  readonly vim?: boolean;
  /** How the person is told of what waits for them while they look elsewhere. */
  readonly notify?: AttentionHow;
  /** What makes marks of pictures; without it, what is pasted is text. */
  readonly pictures?: PictureSource;
  /** What Up brings back, the newest first. */
  readonly history?: readonly string[];
  /** Offered after `/`. */
  readonly commands?: readonly CommandName[];
  /** The folder in which `@` finds files. */
  readonly workspace?: string;
  /** Agents as `@name`, and earlier messages as `#3`, as they are at the moment. */
  names?(): readonly Suggestion[];
}

/** What a terminal can do that redraws its last lines. */
export interface LiveTerminal {
  /** `command` shows a line that was typed and is no message; `connected`, whether it is known what the agent does. */
  readonly view: FeedView & Pick<LiveView, "command" | "connected">;
  /** May be called again; what a call leaves out stays. Returns what is wrong with the keys and the theme, a sentence for each. */
  configure(settings: LiveSettings): readonly string[];
  /** The keys as they are in effect. */
  readonly keyTable: readonly KeyRow[];
  /** The conversation that the person is in: what waits in it is shown. None before the first message. */
  follow(conversation: ConversationState | undefined): void;
  /** Shows this below the prompt; nothing before the first call. */
  status(status: Status): void;
  /**
   * Gives the keys to a list, the tree or a transcript until it is over; what is typed and the transcript stay. Returns
   * nothing when nothing was chosen, when the signal aborts, or when the terminal is closed.
   */
  open<T>(overlay: Overlay<T>, signal?: AbortSignal): Promise<T | undefined>;
  /** What the overlay that has the keys shows has changed. */
  refresh(): void;
  /** Draws what has changed without waiting for the next frame: for whoever is about to do what takes long. */
  draw(): void;
  /**
   * Resolves when the terminal has answered what it was asked at the beginning, or has had its time for that. One that is
   * closed before answers to the shell.
   */
  settled(): Promise<void>;
  /** Markdown of a model, which is plain text else, as lines of so many columns. */
  prose(markdown: string, width: number): readonly string[];
  /** The last screens of a branch, as they stood in the transcript (T48). */
  branchEnd(state: ConversationState, leaf: string | null): BranchEnd;
  /**
   * Lets the person edit the text of a file of this name in an editor of their own; nothing where they have set none. Rejects,
   * once that is said, when the editor fails.
   */
  edit(text: string, file: string): Promise<string | undefined>;
  /** Calls the person, if they look elsewhere: something waits for them. */
  call(sentence: string): void;
  /** Puts text into the prompt, before what stands there. */
  insert(text: string): void;
  /** Puts a text that waited into the prompt, with how it did; what stands there comes back behind it (T53). */
  takeBack(text: string, as: WaitedAs): void;
}
