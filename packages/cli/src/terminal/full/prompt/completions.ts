import { fuzzyFilter } from "@earendil-works/pi-tui/dist/fuzzy.js";
import { commandLine } from "../../terminal.ts";
import type { Completer, Suggestion } from "./completion.ts";

/** A command as it is offered. */
export interface CommandName {
  /** Without the slash. */
  readonly name: string;
  /** Names that other programs have for it. */
  readonly also?: readonly string[];
  /** What may stand behind it. */
  readonly takes?: string;
  readonly help: string;
}

/** Completes what begins with `/` at the beginning of a message (T16). */
export function completeCommands(commands: readonly CommandName[]): Completer {
  const beginWith = (typed: string) =>
    commands.filter(({ name, also = [] }) => [name, ...also].some((one) => one.startsWith(typed)));
  return {
    isMeant(typed, completed) {
      const [one, ...others] = beginWith(typed.slice(1).toLowerCase());
      return one !== undefined && others.length === 0 && completed === `/${one.name}` && !needsMore(one.takes);
    },
    async suggest({ text, isFirst }) {
      if (!isFirst || !text.startsWith("/") || commandLine(text) === undefined) return undefined;
      const typed = text.slice(1).toLowerCase();
      const begin = beginWith(typed);
      const others = fuzzyFilter([...commands], typed, ({ name }) => name).filter((one) => !begin.includes(one));
      return [...begin, ...others].map(({ name, also = [], takes = "", help }) => ({
        // What is typed in full is sent as it stands.
        text: `/${also.includes(typed) ? typed : name}`,
        label: `/${name} ${takes}`.trimEnd(),
        help,
        ...(takes === "" ? {} : { takes: `${needsMore(takes) ? "needs" : "takes"} ${takes}` }),
      }));
    },
  };
}

/** Whether something must stand behind a command: what it takes, without what stands in brackets, is something in every case. */
function needsMore(takes = ""): boolean {
  let rest = takes;
  for (let before = ""; before !== rest; ) {
    before = rest;
    rest = rest.replaceAll(/\[[^[\]]*\]/g, "");
  }
  return rest.split("|").every((one) => one.trim() !== "");
}

/** Completes a word to one of the texts that are there at the moment, each with its sign in front: agents, earlier messages (T14). */
export function completeNames(names: () => readonly Suggestion[]): Completer {
  return {
    async suggest({ text, isAsked }) {
      const sign = text.charAt(0);
      if (!"@#".includes(sign) || sign === "" || /\s/.test(text)) return undefined;
      const some = names().filter((name) => name.text.startsWith(sign));
      // Who writes `#3` in full is to send it with one Enter.
      if (!isAsked && some.some((name) => name.text === text)) return undefined;
      return fuzzyFilter(some, text.slice(1), ({ text, help = "" }) => `${text.slice(1)} ${help}`);
    },
  };
}
