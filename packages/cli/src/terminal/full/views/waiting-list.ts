import type { WaitingInput } from "@banyan/core/conversation";
import { counted } from "@banyan/core/shown";
import { waitingText, waitingWord } from "../../../show/waiting-line.ts";
import { cut, widthOf } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

/**
 * What a person wrote and the agent has not got yet: a line each, what steers before what waits for the end of the turn
 * (T18). Of more than `most` the first are shown.
 */
export function waitingList(
  inbox: readonly WaitingInput[],
  most: number,
  width: number,
  theme: Theme,
  takeBackKey?: string,
): string[] {
  if (inbox.length === 0 || most <= 0) return [];
  const steers = inbox.filter(({ delivery, held }) => delivery !== "queue" && !held);
  const sorted = [...steers, ...inbox.filter((input) => !steers.includes(input))];
  const shown = sorted.slice(0, sorted.length > most ? Math.max(1, most - 1) : most);
  const lines = shown.map((input) => {
    const word = `${waitingWord(input)}: `;
    return theme.accent(word) + waitingText(input, Math.max(8, width - widthOf(word)));
  });
  const hint = takeBackKey === undefined ? "" : `${takeBackKey} takes them back`;
  if (shown.length < sorted.length) {
    const more = `… and ${counted(sorted.length - shown.length, "more message")}`;
    return [...lines, theme.dim(cut(hint === "" ? more : `${more}; ${hint}`, width))];
  }
  const last = lines.length - 1;
  const room = width - widthOf(lines[last] ?? "") - widthOf(hint) - 3;
  return room < 0 || hint === "" ? lines : lines.with(last, `${lines[last]}   ${theme.dim(hint)}`);
}
