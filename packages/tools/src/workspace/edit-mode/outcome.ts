import type { Followed } from "@banyan/core";
import type { FileOutcome } from "./apply.ts";

const AGAIN = "Edit mode has ended: before you write more blocks, call edit_mode again";

/** What the model is told after a message whose blocks were applied, as far as they could be (B32). */
export function appliedOutcome(outcomes: readonly FileOutcome[]): Followed {
  const refused = outcomes.filter(({ type }) => type === "refused").map(({ path }) => path);
  const applied = outcomes.filter(({ type }) => type === "written" || type === "unchanged");
  const how =
    refused.length === 0
      ? "All blocks were applied"
      : applied.length === 0
        ? "No block was applied"
        : "Some blocks were applied";
  const again =
    refused.length === 0
      ? AGAIN
      : `${AGAIN} for ${list(refused)}, and then send all blocks for ${refused.length === 1 ? "it" : "them"} anew`;
  return { say: [`${how}.`, ...outcomes.map(line), `${again}.`].join("\n"), failed: refused.length > 0 };
}

/** What the model is told of a message in which it is not clear what belongs where. */
export function doubtfulOutcome(paths: readonly string[], doubts: readonly string[]): Followed {
  const why = doubts.join("; ");
  return {
    say: `No block was applied, and nothing was written to ${list(paths)}: ${why}.\n${AGAIN}, and then send all blocks anew.`,
    failed: true,
  };
}

/** What the model is told of a message without a block for a file (B33); `plain` is how many fences it had all the same. */
export function emptyOutcome(paths: readonly string[], plain: number): Followed {
  const examples =
    plain === 0
      ? ""
      : ` ${plain === 1 ? "One fence was" : `${plain} fences were`} taken as an example, without an address.`;
  return {
    say: `Your message had no block for ${list(paths)}, so nothing was written.${examples}\n${AGAIN}.`,
    failed: plain > 0,
  };
}

/** What the model is told when its message does not count. */
export function droppedOutcome(paths: readonly string[], reason: string): string {
  return `Nothing was written to ${list(paths)}, because ${reason}.\n${AGAIN}, and then send all blocks anew.`;
}

function line(outcome: FileOutcome): string {
  const { path } = outcome;
  switch (outcome.type) {
    case "written": {
      const { blocks, before, after } = outcome;
      if (before === undefined) return `${path}: created, with ${count(after, "line")}.`;
      return `${path}: ${count(blocks, "block")} applied; it has ${count(after, "line")} now, and had ${before}.`;
    }
    case "unchanged":
      return `${path}: unchanged, it has this content already.`;
    case "untouched":
      return `${path}: left as it was, no block was for it.`;
    case "refused":
      return `${path}: nothing applied: ${outcome.why}.`;
  }
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function list(paths: readonly string[]): string {
  return paths.length < 2 ? paths.join("") : `${paths.slice(0, -1).join(", ")} and ${paths.at(-1)}`;
}
