import { fuzzyFilter } from "@earendil-works/pi-tui";
import type { Completer, Suggestion } from "./completion.ts";

/** Completes a word to one of the texts that are there at the moment, each with its sign in front: agents, earlier messages (T14). */
export function completeNames(names: () => readonly Suggestion[]): Completer {
  return {
    async suggest({ text, isAsked }) {
      const sign = text.charAt(0);
      if (!"@#".includes(sign) || sign === "") return undefined;
      const some = names().filter((name) => name.text.startsWith(sign));
      // Who writes `#3` in full is to send it with one Enter.
      if (!isAsked && some.some((name) => name.text === text)) return undefined;
      return fuzzyFilter(some, text.slice(1), ({ text, help = "" }) => `${text.slice(1)} ${help}`);
    },
  };
}
