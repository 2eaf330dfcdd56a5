import type { Item } from "../items.ts";
import type { Hands } from "../long-model.ts";

/** The place of a program, and its model. */
export interface Place {
  /** The address of the model, without a path. */
  readonly url: string;
  /** Tokens of its window. */
  readonly window: number;
  readonly home: string;
  readonly cwd: string;
}

/** One conversation with a program. */
export interface Conversation extends AsyncDisposable {
  /** Resolves when the turn has ended, with the reason when it failed. */
  say(text: string): Promise<string | undefined>;
}

/** A program whose conversations grow too long. */
export interface CompactingProgram {
  readonly hands: Hands;
  /** Tells a message that asks the model for a summary. */
  asksForSummary(text: string): boolean;
  /** Tells an item that the program can have. */
  has(item: Item): boolean;
  begin(place: Place): Promise<Conversation>;
}
