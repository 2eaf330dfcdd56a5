import { fuzzyFilter } from "@earendil-works/pi-tui/dist/fuzzy.js";
import { commandLine } from "../../questions/question.ts";
import type { Completer, PromptSuggestion } from "./completion.ts";

/** A slash command as completion offers it. */
export interface OfferedCommand {
  readonly name: string;
  /** Names of the command in other programs. */
  readonly also?: readonly string[];
  readonly takes?: string;
  readonly help: string;
}

/** Completes the name of a command after `/` at the beginning of a message (T16). */
export function completeCommands(commands: readonly OfferedCommand[]): Completer {
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
        // A complete name is sent unchanged.
        text: `/${also.includes(typed) ? typed : name}`,
        label: `/${name} ${takes}`.trimEnd(),
        help,
        ...(takes === "" ? {} : { takes: `${needsMore(takes) ? "needs" : "takes"} ${takes}` }),
      }));
    },
  };
}

/** Returns whether a command requires arguments: each alternative has a part outside brackets. */
function needsMore(takes = ""): boolean {
  let rest = takes;
  for (let before = ""; before !== rest; ) {
    before = rest;
    rest = rest.replaceAll(/\[[^[\]]*\]/g, "");
  }
  return rest.split("|").every((one) => one.trim() !== "");
}

/** Completes the names of agents and of earlier messages, such as `#3` (T14). */
export function completeNames(names: () => readonly PromptSuggestion[]): Completer {
  return {
    async suggest({ text, isAsked }) {
      const sign = text.charAt(0);
      if (!"@#".includes(sign) || sign === "" || /\s/.test(text)) return undefined;
      const some = names().filter((name) => name.text.startsWith(sign));
      // A user who has typed `#3` in full needs only one Enter to send.
      if (!isAsked && some.some((name) => name.text === text)) return undefined;
      return fuzzyFilter(some, text.slice(1), ({ text, help = "" }) => `${text.slice(1)} ${help}`);
    },
  };
}
