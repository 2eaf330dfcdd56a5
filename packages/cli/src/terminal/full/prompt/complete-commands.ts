import { fuzzyFilter } from "@earendil-works/pi-tui";
import type { Completer } from "./completion.ts";

/** A command as it is offered. */
export interface CommandName {
  /** Without the slash. */
  readonly name: string;
  /** What may stand behind it. */
  readonly takes?: string;
  readonly help: string;
}

/** Completes what begins with `/` at the beginning of a message (T16). */
export function completeCommands(commands: readonly CommandName[]): Completer {
  return {
    async suggest({ text, isFirst }) {
      if (!isFirst || !text.startsWith("/")) return undefined;
      const typed = text.slice(1).toLowerCase();
      const begin = commands.filter(({ name }) => name.startsWith(typed));
      const others = fuzzyFilter([...commands], typed, ({ name }) => name).filter((one) => !begin.includes(one));
      return [...begin, ...others].map(({ name, takes = "", help }) => ({
        text: `/${name}`,
        label: `/${name} ${takes}`.trimEnd(),
        help,
      }));
    },
  };
}
