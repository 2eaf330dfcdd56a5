import type { Item } from "../items.ts";
import type { Hands } from "../long-model.ts";

/** Where a program works, and what its model is. */
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
  /** Whether a message asks the model for a summary. */
  asksForSummary(text: string): boolean;
  /** Whether the program can have this item at all. */
  has(item: Item): boolean;
  begin(place: Place): Promise<Conversation>;
}
