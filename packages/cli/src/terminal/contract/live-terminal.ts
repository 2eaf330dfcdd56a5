import type { ConversationState } from "@banyan/core";
import type { KeyRow, KeySettings } from "../full/keys/key-bindings.ts";
import type { Overlay } from "../full/overlay/overlay.ts";
import type { PromptSuggestion } from "../full/prompt/completion.ts";
import type { OfferedCommand } from "../full/prompt/completions.ts";
import type { PreviousWait } from "../full/prompt/prompt.ts";
import type { LiveView } from "../full/transcript/live-view.ts";
import type { BranchEnd } from "../full/transcript/message-lines.ts";
import type { Status } from "../full/views/status-line.ts";
import type { FeedView } from "../questions/feed-view.ts";

/** How a user who is looking elsewhere is notified. `auto`: by the terminal's notification and its bell. */
export type AttentionSetting = "auto" | "bell" | "off";

/** A paste after its images were replaced by marks. */
export interface PasteResult {
  readonly text: string;
  /** Reason why a named file is not an image to attach. */
  readonly problem?: string;
}

/** Replaces images in a text by marks such as `[image: a.png]` (T50). */
export interface PictureSource {
  /** Returns a pasted text with marks for the images that it names. */
  pasted(text: string): PasteResult;
  /** Resolves with the mark of the clipboard's image. Rejects with a sentence if there is none. */
  fromClipboard(): Promise<string>;
}

/** Settings of the terminal that are known only after the host is open. */
export interface LiveSettings {
  /** Label of the prompt. It is shown also before the first question. */
  readonly prompt?: string;
  /** Key bindings that differ from the defaults (T13). */
  readonly keys?: KeySettings;
  readonly theme?: string;
  readonly vim?: boolean;
  readonly notify?: AttentionSetting;
  /** Source of image marks. Without it, pastes are plain text. */
  readonly pictures?: PictureSource;
  /** Texts for the Up key, newest first. */
  readonly history?: readonly string[];
  readonly commands?: readonly OfferedCommand[];
  /** Folder in which `@` finds files. */
  readonly workspace?: string;
  /** Completions for agents as `@name`, and for earlier messages as `#3`; called for each use. */
  names?(): readonly PromptSuggestion[];
}

/** A terminal that can redraw its last lines. */
export interface LiveTerminal {
  /**
   * `command` shows a typed command. `connected` shows whether there is a connection to the agent.
   */
  readonly view: FeedView & Pick<LiveView, "command" | "connected">;
  /** Changes settings; omitted ones stay. Returns faults in key bindings and theme, one sentence each. */
  configure(settings: LiveSettings): readonly string[];
  readonly keyTable: readonly KeyRow[];
  /** Shows the queue of the user's conversation; undefined before the first message. */
  follow(conversation: ConversationState | undefined): void;
  /** Shows the status below the prompt; empty before the first call. */
  status(status: Status): void;
  /**
   * Passes keys to an overlay until it closes; the prompt and the transcript stay. Resolves with undefined if the user
   * chooses nothing, the signal aborts, or the terminal closes.
   */
  open<T>(overlay: Overlay<T>, signal?: AbortSignal): Promise<T | undefined>;
  refresh(): void;
  /** Draws changes at once, before slow work blocks the next frame. */
  draw(): void;
  /** Resolves after the terminal's replies to the initial queries. After an earlier close, the shell would get them. */
  settled(): Promise<void>;
  /** Renders a model's Markdown as lines of a width. */
  prose(markdown: string, width: number): readonly string[];
  /** The last screens of a branch, as in the transcript (T48). */
  branchEnd(state: ConversationState, leaf: string | null): BranchEnd;
  /**
   * Lets the user edit a text in their own editor; undefined without one. Shows an error of the editor, then rejects.
   */
  edit(text: string, file: string): Promise<string | undefined>;
  /** Notifies a user who is not looking that something waits. */
  call(sentence: string): void;
  /** Inserts a text into the prompt, before its present text. */
  insert(text: string): void;
  /** Puts a withdrawn message into the prompt, with its former delivery. The present text returns afterwards (T53). */
  takeBack(text: string, as: PreviousWait): void;
}
