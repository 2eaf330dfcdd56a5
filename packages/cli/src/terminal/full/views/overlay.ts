import type { KeyBindings } from "../keys/key-bindings.ts";
import type { Position, Size } from "../screen/live-region.ts";
import type { Theme } from "../theme/theme.ts";
import type { Page } from "./viewer.ts";

/** How something ended that had the keys; without a result nothing was chosen. */
export interface Over<T> {
  readonly result?: T;
  /** The person went back to what was there before, and wants nothing stopped. */
  readonly isBack?: true;
}

/** Lines, and where the cursor stands among them; it is hidden when absent. */
export interface View {
  readonly lines: readonly string[];
  readonly cursor?: Position | undefined;
}

/** Something that has the keys for a while: an approval, a list, the tree, a transcript. */
export interface Overlay<T> {
  /** It takes the whole screen; else it stands where the prompt is. */
  readonly isFull: boolean;
  /** Of one that takes the whole screen: what is asked meanwhile is asked below it, and not behind it. */
  readonly takesQuestions?: boolean;
  /**
   * What is seen of it: lines of at most so many columns, and no more than there are rows. `isArmed`: keys are for it;
   * they are not yet when it has just appeared. `keys`: as they are named in what it says of them.
   */
  view(size: Size, theme: Theme, isArmed: boolean, keys: KeyBindings): View;
  /** Takes a key, as the terminal sent it; returns when it is over. */
  key(key: string, keys: KeyBindings): Over<T> | undefined;
  /** Whether it has no use for a key just now: where it stands below a page, that one has it. */
  spares?(key: string, keys: KeyBindings): boolean;
  /** What keys do now, for the last line of the screen; the most important first. */
  footer?(keys: KeyBindings): readonly string[];
  /** All of it, for the whole screen. */
  readonly page?: Page | undefined;
  /** Takes a paste; where it is absent, one is nothing. */
  paste?(text: string): void;
}
