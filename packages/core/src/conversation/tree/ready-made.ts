import { type Message, textOf } from "../message.ts";
import type { ConversationState } from "../state.ts";
import { leaves, pathTo } from "./path.ts";

// What every client has an agent do in the same words.

/** How a review is asked for; a branch that begins so is one. */
const REVIEW = "Review these changes: @diff";

/** The named agent that looks, and can change nothing. */
export const REVIEWER = "reviewer";

/** Asks for a review of what is not committed, or of what is named: a branch, a commit, `a..b`. */
export function reviewRequest(of: string): string {
  return of === "" ? REVIEW : `${REVIEW}:${of.split(/\s/, 1)[0]}`;
}

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

/** The findings of the review that the person looks at, else of the newest; nothing where no review has an answer. */
export function lastFindings(state: ConversationState, leaf: string | null): Finding[] | undefined {
  const here = reviewed(pathTo(state, leaf));
  const [newest] = leaves(state)
    .flatMap((end) => reviewed(pathTo(state, end)) ?? [])
    .sort((one, other) => other.createdAt - one.createdAt);
  const answer = here ?? newest;
  return answer && findingsIn(textOf(answer));
}

/** Whether a text asks for a review, by how it begins. */
export function isReviewRequest(text: string): boolean {
  return text.startsWith(REVIEW);
}

function isReview([first]: readonly Message[]): boolean {
  return first !== undefined && isReviewRequest(textOf(first));
}

/** What the reviewer said at the end of its turn. */
function reviewed(path: readonly Message[]): Message | undefined {
  if (!isReview(path)) return undefined;
  const next = path.findIndex(({ role }, index) => index > 0 && role === "user");
  return path
    .slice(0, next < 0 ? undefined : next)
    .findLast((message) => message.role === "assistant" && textOf(message) !== "");
}

/**
 * What asks for a finding to be mended, and where to say it: at the end of the branch that was last written to and is not a
 * review.
 */
export function mendingRequest(
  state: ConversationState,
  { place, text }: Finding,
): { readonly text: string; readonly at?: string } {
  const branches = leaves(state).map((end) => pathTo(state, end));
  const made = branches
    .filter((path) => !isReview(path))
    .map((path) => path.at(-1))
    .sort((one, other) => (other?.createdAt ?? 0) - (one?.createdAt ?? 0))[0];
  return {
    text: `A review of the changes found this. Look whether it is so, and mend it if it is:\n\n${place}: ${text}`,
    ...(made && { at: made.id }),
  };
}

/** Asks for the project's `AGENTS.md`, with what matters most to whoever asks, if that is said (C15). */
export function instructionsRequest(matters: string): string {
  return matters === "" ? ABOUT_THE_PROJECT : `${ABOUT_THE_PROJECT}\n\nWhat matters most to me: ${matters}`;
}

const ABOUT_THE_PROJECT = `Write AGENTS.md at the top of this project: what an agent must know that works here for the first time, and cannot see at once.

Look around first: the README, the manifests of packages, the settings of builds and CI, the layout of folders, some of the code and its tests. If there is an AGENTS.md, or a file like it for another program (CLAUDE.md, GEMINI.md, .cursorrules), keep what is true in it.

Say, in at most 60 lines: what it is, in a sentence; how to install, build, run, check and test it, with the command for a single test; how it is laid out, where that is not plain; the rules of style and design that its code keeps; what is easy to get wrong. Write only what you have seen. Try a command before you name it, where that is quick and changes nothing. Then tell me what you were not sure of.`;
