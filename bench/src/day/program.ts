import type { How, ThingName } from "./things.ts";
import type { Tools } from "./wire.ts";

/** Keys to press after a text appeared; or a sentence why the task is not possible. */
export type Way = readonly (string | { readonly after: RegExp; readonly press: string })[] | { readonly none: string };

/** Files and variables of a user who has set up a program. The keys are paths in the home folder. */
export interface Setup {
  readonly files: Readonly<Record<string, string | object>>;
  readonly env: Readonly<Record<string, string>>;
}

/** A terminal program, as an experienced user uses it. */
export interface DayProgram {
  /** The arguments for a conversation with approval prompts. */
  readonly asking: readonly string[];
  /** The arguments for a conversation without approval prompts. */
  readonly free: readonly string[];
  /** The arguments that continue the last conversation. */
  readonly back: readonly string[];
  /** The name of the program. */
  readonly called: string;
  readonly ready: RegExp;
  /** The keys that end the program. */
  readonly leave: string;
  /** Returns the program's tools. For some programs the model itself asks for approval. */
  tools(how: How): Tools;
  setup(url: string, place: { readonly home: string; readonly cwd: string }): Setup;
  /** Texts of the approval prompts for a change and for a command; absent if there are none. */
  readonly asks?: { readonly edit: RegExp; readonly command: RegExp };
  /** The text after an interruption. */
  readonly stopped: RegExp;
  /** The text with the cost. */
  readonly spent: RegExp;
  /** The name of the other model to choose. */
  readonly other: RegExp;
  /** The text in the view of changes. */
  readonly changed: RegExp;
  readonly ways: Readonly<Record<ThingName, Way>>;
}
