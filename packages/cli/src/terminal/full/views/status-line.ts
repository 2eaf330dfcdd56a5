import type { Cost } from "@banyan/core";
import type { PlanStep } from "@banyan/core/conversation";
import { counted, formatCost, shortCount } from "@banyan/core/shown";
import { oneLine } from "../../../show/plain-text.ts";
import { bare, cut, widthOf } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

/** What stands below the prompt (T26). What is absent is not known, and not shown. */
export interface Status {
  readonly mode: "chat" | "task";
  /** What runs without asking, in words: `asks before changes`. */
  readonly approval?: string;
  /** As it is chosen: `provider/model`. */
  readonly model: string;
  /** Which branch this is of how many. */
  readonly branch?: { readonly number: number; readonly count: number };
  /** How many other branches the agent works on. */
  readonly beside?: number;
  /** How full the model's context is, from 0 to 1. */
  readonly context?: number;
  /** How many of what calls began go on in the background. */
  readonly processes?: number;
  readonly tokens: number;
  readonly cost: Cost;
  /** The plan on the branch, which stands above the prompt while some of it is to be done (T57). */
  readonly plan?: readonly PlanStep[];
  /** The branch of git. */
  readonly git?: string | undefined;
  /** What a command of the person's own says, with its colours: it stands in place of all this. */
  readonly own?: string | undefined;
}

const BETWEEN = " · ";

/** The status on one line. Where there is less room, what can be missed best is left out first; below 20 columns all. */
export function statusLine(status: Status, width: number, theme: Theme): string {
  const { mode, approval, model, branch, context, processes = 0, beside = 0, tokens, cost, git, own = "" } = status;
  if (own !== "") return cut(theme.depth === 1 ? bare(own) : own, width);
  const full = context !== undefined && context >= 0.8 ? theme.warning : theme.dim;
  const parts: readonly { readonly text: string; readonly rank: number; readonly paint?: (text: string) => string }[] =
    [
      { text: mode, rank: 3 },
      { text: approval ?? "", rank: 1 },
      { text: oneLine(width < 60 ? (model.split("/").at(-1) ?? model) : model), rank: 0 },
      { text: processes > 0 ? `${processes} in the background` : "", rank: 1 },
      { text: beside > 0 ? `${counted(beside, "branch", "branches")} at work` : "", rank: 1 },
      { text: git === undefined ? "" : `git ${oneLine(git)}`, rank: 3 },
      { text: branch && branch.count > 1 ? `branch ${branch.number}/${branch.count}` : "", rank: 2 },
      { text: context === undefined ? "" : `context ${100 - Math.round(context * 100)} % left`, rank: 1, paint: full },
      { text: tokens > 0 ? `${shortCount(tokens)} tokens` : "", rank: 4 },
      { text: tokens > 0 ? (cost === undefined ? "cost unknown" : formatCost(cost)) : "", rank: 2 },
    ];
  if (width < 20) return "";
  let kept = parts.filter(({ text }) => text !== "");
  for (let rank = 4; rank > 0 && widthOf(kept.map(({ text }) => text).join(BETWEEN)) > width; rank--)
    kept = kept.filter((part) => part.rank < rank);
  return cut(kept.map(({ text, paint = theme.dim }) => paint(text)).join(theme.dim(BETWEEN)), width);
}
