import type { How, ThingName } from "./things.ts";
import type { Tools } from "./wire.ts";

/** What is pressed, once something is shown; or that it cannot be done, in a sentence. */
export type Way = readonly (string | { readonly after: RegExp; readonly press: string })[] | { readonly none: string };

/** Files and variables of a person who has set up a program, by the files' paths in the home. */
export interface Setup {
  readonly files: Readonly<Record<string, string | object>>;
  readonly env: Readonly<Record<string, string>>;
}

/** A program of the terminal, as a person who knows it uses it. */
export interface DayProgram {
  /** The words that begin a conversation in which what changes something is asked for. */
  readonly asking: readonly string[];
  /** And one in which nothing is asked for. */
  readonly free: readonly string[];
  /** What goes on with the last conversation, behind the name of the program. */
  readonly back: readonly string[];
  /** What the program is called. */
  readonly called: string;
  readonly ready: RegExp;
  /** Ends it. */
  readonly leave: string;
  /** Where it asks, the model says that it has to, if the program wants that. */
  tools(how: How): Tools;
  setup(url: string, place: { readonly home: string; readonly cwd: string }): Setup;
  /** What is shown where a change, and where a command, is asked about; nothing where neither ever is. */
  readonly asks?: { readonly edit: RegExp; readonly command: RegExp };
  /** What is shown when it has stopped. */
  readonly stopped: RegExp;
  /** Where it says what has been spent. */
  readonly spent: RegExp;
  /** What the other model is called that can be chosen. */
  readonly other: RegExp;
  /** What stands where it shows what has been changed. */
  readonly changed: RegExp;
  readonly ways: Readonly<Record<ThingName, Way>>;
}
