import type { KeyBindings } from "../keys/key-bindings.ts";
import type { ScreenPosition, ScreenSize } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";

/** A text longer than a screen: a call's output, a thought, a diff, a sub-agent's transcript. */
export interface ViewerPage {
  readonly title: string;
  /** The present lines. The viewer follows the end of growing text until the user scrolls. */
  lines(width: number, theme: Theme): readonly string[];
}

/** The user's action in an overlay: a choice of `result`, a step back, or an exit without a choice. */
export interface OverlayEnd<T> {
  readonly result?: T;
  /** True if the user went back to the previous question, which stops nothing. */
  readonly isBack?: true;
}

/** The lines of an overlay, and the position of the cursor in them. Without a position, the cursor is hidden. */
export interface OverlayView {
  readonly lines: readonly string[];
  readonly cursor?: ScreenPosition | undefined;
}

/** A view over the prompt that receives the keys until it closes: an approval, a list, the tree, a transcript. */
export interface Overlay<T> {
  /** True if the overlay takes the whole screen instead of the prompt's place. */
  readonly isFull: boolean;
  /** True if questions appear below the whole-screen view instead of behind it. */
  readonly takesQuestions?: boolean;
  /**
   * Renders at most `size.rows` lines of `size.columns` columns. `isArmed`: whether keys count yet, which they do not
   * at once. `keys`: names of keys for hints.
   */
  view(size: ScreenSize, theme: Theme, isArmed: boolean, keys: KeyBindings): OverlayView;
  /** Handles a key sequence from the terminal. Returns the end of the overlay, if it ends. */
  key(key: string, keys: KeyBindings): OverlayEnd<T> | undefined;
  /** Returns true if the overlay has no use for a key now. The page above the overlay then gets the key. */
  spares?(key: string, keys: KeyBindings): boolean;
  /** Key hints for the last line of the screen, most important first. */
  footer?(keys: KeyBindings): readonly string[];
  readonly page?: ViewerPage | undefined;
  /** Handles a paste; without this method, pastes are ignored. */
  paste?(text: string): void;
  /**
   * Marks what a printing key stands for, and does nothing else. Returns whether the key stands for anything. Present
   * in questions, where only Enter decides (T64).
   */
  mark?(key: string, keys: KeyBindings): boolean;
  /** Takes back the last mark, because its key began a text. */
  unmark?(): void;
  /** True while the user writes in a text field. Only a confirmed choice enters a text field. */
  readonly isWriting?: boolean;
}
