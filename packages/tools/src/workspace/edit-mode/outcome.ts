import type { FollowResult } from "@banyan/core";
import { ALL_APPLIED, EDIT_MODE_ENDED } from "@banyan/core/shown";
import type { FileOutcome } from "./apply.ts";

const AGAIN = `${EDIT_MODE_ENDED}: before you write more blocks, call edit_mode again`;

/** Returns the report for the model after a message whose code blocks were applied, at least in part (B32). */
export function appliedOutcome(outcomes: readonly FileOutcome[]): FollowResult {
  const refused = outcomes.filter(({ type }) => type === "refused").map(({ path }) => path);
  const applied = outcomes.filter(({ type }) => type === "written" || type === "unchanged");
  const how =
    refused.length === 0 ? ALL_APPLIED : applied.length === 0 ? "No block was applied." : "Some blocks were applied.";
  const again =
    refused.length === 0
      ? AGAIN
      : `${AGAIN} for ${listPaths(refused)}, and then send all blocks for ${refused.length === 1 ? "it" : "them"} again`;
  return { say: [how, ...outcomes.map(outcomeLine), `${again}.`].join("\n"), failed: refused.length > 0 };
}

/** Returns the report for the model about a message in which the targets of code blocks are unclear. */
export function doubtfulOutcome(paths: readonly string[], doubts: readonly string[]): FollowResult {
  const why = doubts.join("; ");
  return {
    say: `No block was applied, and nothing was written to ${listPaths(paths)}: ${why}.\n${AGAIN}, and then send all blocks again.`,
    failed: true,
  };
}

/**
 * Returns the report about a message that has no block for a file (B33). `plain` is the number of code blocks that name
 * no file.
 */
export function emptyOutcome(paths: readonly string[], plain: number): FollowResult {
  const examples =
    plain === 0
      ? ""
      : ` ${plain === 1 ? "One fence was" : `${plain} fences were`} taken as an example, without an address.`;
  return {
    say: `Your message had no block for ${listPaths(paths)}, so nothing was written.${examples}\n${AGAIN}.`,
    failed: plain > 0,
  };
}

/** Returns the report about a discarded message. */
export function droppedOutcome(paths: readonly string[], reason: string): string {
  return `Nothing was written to ${listPaths(paths)}, because ${reason}.\n${AGAIN}, and then send all blocks again.`;
}

function outcomeLine(outcome: FileOutcome): string {
  const { path } = outcome;
  switch (outcome.type) {
    case "written": {
      const { blocks, before, after } = outcome;
      if (before === undefined) return `${path}: created, with ${countedThings(after, "line")}.`;
      return `${path}: ${countedThings(blocks, "block")} applied; it has ${countedThings(after, "line")} now, and had ${before}.`;
    }
    case "unchanged":
      return `${path}: unchanged, because the file already has this content.`;
    case "untouched":
      return `${path}: unchanged, because no block names it.`;
    case "refused":
      return `${path}: nothing applied: ${outcome.why}.`;
  }
}

function countedThings(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function listPaths(paths: readonly string[]): string {
  return paths.length < 2 ? paths.join("") : `${paths.slice(0, -1).join(", ")} and ${paths.at(-1)}`;
}
