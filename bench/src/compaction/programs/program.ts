import type { Item } from "../items.ts";
import type { Hands } from "../long-model.ts";

/** The surroundings of a program, and its model. */
export interface Place {
  /** The address of the model, without a path. */
  readonly url: string;
  /** The tokens of the model's window. */
  readonly window: number;
  readonly home: string;
  readonly cwd: string;
}

/** A conversation with a program. */
export interface Conversation extends AsyncDisposable {
  /** Resolves when the turn has ended, with the reason if it failed. */
  say(text: string): Promise<string | undefined>;
}

/** A program with compaction. */
export interface CompactingProgram {
  readonly hands: Hands;
  /** Detects a message that asks the model for a summary. */
  asksForSummary(text: string): boolean;
  /** Returns whether the program can have an item. */
  has(item: Item): boolean;
  begin(place: Place): Promise<Conversation>;
}
