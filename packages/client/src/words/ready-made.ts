import { type ConversationState, leaves, type Message, pathTo, textOf } from "@banyan/core/conversation";

/** Beginning of a request for a review, by which a branch is recognized as a review. */
const REVIEW = "Review these changes: @diff";

/**
 * Name of the read-only agent for reviews.
 * @example reviewRequest("").includes(REVIEWER)
 */
export const REVIEWER = "reviewer";

/**
 * Returns the request for a review of uncommitted changes, or of a branch, a commit or `a..b`.
 * @example await agent.send(reviewRequest("main..HEAD"), { session });
 */
export function reviewRequest(of: string): string {
  return of === "" ? REVIEW : `${REVIEW}:${of.split(/\s/, 1)[0]}`;
}

/** A fault that a review found. See {@link lastFindings}. */
export interface Finding {
  /** Such as `src/a.ts:12`. */
  readonly place: string;
  readonly text: string;
}

/** Returns the findings in a reviewer's text: lines that begin with a file and a line number, like a compiler's. */
export function findingsIn(text: string): Finding[] {
  return text.split("\n").flatMap((line) => {
    const [, place, said] =
      /^\s*(?:[-*]|\d+[.)])?\s*[`*]*([^\s:`*]+:\d+(?:[-:]\d+)?)[`*]*\s*[:–-]\s*(\S.*)$/.exec(line) ?? [];
    return place === undefined || said === undefined || place.startsWith("http") ? [] : [{ place, text: said }];
  });
}

/**
 * Returns the findings of the review at `leaf`, or else of the newest review. Nothing if no review has an answer.
 * @example
 * for (const { place, text } of lastFindings(session.state, session.state.leaf) ?? []) console.log(place, text);
 */
export function lastFindings(state: ConversationState, leaf: string | null): Finding[] | undefined {
  const here = reviewed(pathTo(state, leaf));
  const [newest] = leaves(state)
    .flatMap((end) => reviewed(pathTo(state, end)) ?? [])
    .sort((one, other) => other.createdAt - one.createdAt);
  const answer = here ?? newest;
  return answer && findingsIn(textOf(answer));
}

/**
 * True if a text begins like a request for a review.
 * @example isReviewRequest(reviewRequest("main")) // true
 */
export function isReviewRequest(text: string): boolean {
  return text.startsWith(REVIEW);
}

function isReview([first]: readonly Message[]): boolean {
  return first !== undefined && isReviewRequest(textOf(first));
}

function reviewed(path: readonly Message[]): Message | undefined {
  if (!isReview(path)) return undefined;
  const next = path.findIndex(({ role }, index) => index > 0 && role === "user");
  return path
    .slice(0, next < 0 ? undefined : next)
    .findLast((message) => message.role === "assistant" && textOf(message) !== "");
}

/**
 * Returns the request to fix a finding, and the message below which to send it: the end of the newest branch that is
 * not a review.
 * @example
 * for (const finding of lastFindings(session.state, session.state.leaf) ?? [])
 *   await agent.send(mendingRequest(session.state, finding).text, { session });
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
    text: `A review of the changes reported this. Check whether it is true, and fix it if it is:\n\n${place}: ${text}`,
    ...(made && { at: made.id }),
  };
}

/**
 * Returns the request for the project's `AGENTS.md`, with the user's priorities if given (C15).
 * @example await agent.send(instructionsRequest("Short functions."), { session });
 */
export function instructionsRequest(matters: string): string {
  return matters === "" ? ABOUT_THE_PROJECT : `${ABOUT_THE_PROJECT}\n\nMost important to me: ${matters}`;
}

const ABOUT_THE_PROJECT = `Write AGENTS.md at the top of this project, for an agent that works here for the first time: the facts that it needs and cannot see at once.

Explore first: the README, the manifests of packages, the settings of builds and CI, the layout of folders, some of the code and its tests. If there is an AGENTS.md, or a similar file of another program (CLAUDE.md, GEMINI.md, .cursorrules), keep the true parts.

Cover in at most 60 lines: the purpose, in a sentence; how to install, build, run, check and test it, with the command for a single test; its layout, if it is not obvious; the rules of style and design in its code; common mistakes. Write only what you have seen. Try a command before you name it, if it is quick and changes nothing. At the end, tell me where you were not sure.`;
