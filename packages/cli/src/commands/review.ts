import { type ConversationState, leaves, type Message, pathTo, retry, say, textOf } from "@banyan/core";
import { visibleLine } from "@banyan/core/shown";
import { wrap } from "../show/fit-text.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

/** How a review is asked for; a branch that begins so is one. */
const REVIEW = "Review these changes: @diff";

/** The named agent that looks, and can change nothing. */
const REVIEWER = "reviewer";

export const review: Command<ConversationContext> = {
  name: "review",
  givesWay: true,
  takes: "[branch | commit | a..b]",
  help: "have another agent, which can only look, review what is not committed, a commit, or what changed here since a branch",
  run({ state }, argument) {
    const text = argument === "" ? REVIEW : `${REVIEW}:${argument.split(/\s/, 1)[0]}`;
    const [first] = state.children.get(null) ?? [];
    // A branch of its own from the root: it knows nothing of how the changes came about.
    return first === undefined
      ? { type: "turn", directive: say(text), agent: REVIEWER }
      : { type: "turn", directive: retry(text), at: first, agent: REVIEWER };
  },
};

export const findings: Command<ConversationContext> = {
  name: "findings",
  takes: "[n]",
  help: "list what the last review found, by file and line; with a number, have the agent that made the changes mend that",
  run({ state, leaf, columns, style, write }, argument) {
    const found = lastFindings(state, leaf);
    if (found === undefined) write("Nothing was reviewed in this conversation; /review does it.");
    else if (found.length === 0) write("The last review found nothing.");
    else if (argument === "") {
      for (const [index, { place, text }] of found.entries())
        write(wrap(`${String(index + 1).padStart(3)}  ${style.bold(place)}  ${visibleLine(text)}`, columns));
      write(style.dim("/findings n has the agent mend finding n."));
    } else {
      const finding = found[Number(argument) - 1];
      if (finding) return mend(state, finding);
      write(`There is no finding ${visibleLine(argument)}; /findings lists them.`);
    }
    return ASK;
  },
};

/** Something that a review found. */
export interface Finding {
  /** `src/a.ts:12`. */
  readonly place: string;
  readonly text: string;
}

/** The findings in what a reviewer said: lines that begin with a file and a line, as a compiler writes them. */
export function findingsIn(text: string): Finding[] {
  return text.split("\n").flatMap((line) => {
    const [, place, said] =
      /^\s*(?:[-*]|\d+[.)])?\s*[`*]*([^\s:`*]+:\d+(?:[-:]\d+)?)[`*]*\s*[:–-]\s*(\S.*)$/.exec(line) ?? [];
    return place === undefined || said === undefined || place.startsWith("http") ? [] : [{ place, text: said }];
  });
}

/** Those of the review that the person stands in, else of the newest; nothing where there is none with an answer. */
function lastFindings(state: ConversationState, leaf: string | null): Finding[] | undefined {
  const here = reviewed(pathTo(state, leaf));
  const [newest] = leaves(state)
    .flatMap((end) => reviewed(pathTo(state, end)) ?? [])
    .sort((one, other) => other.createdAt - one.createdAt);
  const answer = here ?? newest;
  return answer && findingsIn(textOf(answer));
}

function isReview([first]: readonly Message[]): boolean {
  return first !== undefined && textOf(first).startsWith(REVIEW);
}

/** What the reviewer said at the end of its turn. */
function reviewed(path: readonly Message[]): Message | undefined {
  if (!isReview(path)) return undefined;
  const next = path.findIndex(({ role }, index) => index > 0 && role === "user");
  return path
    .slice(0, next < 0 ? undefined : next)
    .findLast((message) => message.role === "assistant" && textOf(message) !== "");
}

/** Says a finding where the changes were made: on the branch that was last written to and is no review, if there is one. */
function mend(state: ConversationState, { place, text }: Finding) {
  const branches = leaves(state).map((end) => pathTo(state, end));
  const made = branches
    .filter((path) => !isReview(path))
    .map((path) => path.at(-1))
    .sort((one, other) => (other?.createdAt ?? 0) - (one?.createdAt ?? 0))[0];
  const directive = say(
    `A review of the changes found this. Look whether it is so, and mend it if it is:\n\n${place}: ${text}`,
  );
  return { type: "turn", directive, ...(made && { at: made.id }), asIs: true } as const;
}
