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

/** A part of it. The lower its rank, the later it is left out. */
interface Part {
  readonly text: string;
  readonly rank: number;
  readonly paint?: (text: string) => string;
}

/** Ranks up to this one are worth more than the provider in the name of the model. */
const NEEDED = 4;
/** Columns from which on the provider stands in the name of the model, where there is room for it. */
const PROVIDER_FROM = 60;

/**
 * The status on one line. Where there is less room, what can be missed best is left out first, one by one, and before what is
 * needed the provider in the name of the model; below 20 columns all.
 */
export function statusLine(status: Status, width: number, theme: Theme): string {
  const { own = "", model } = status;
  if (own !== "") return cut(theme.depth === 1 ? bare(own) : own, width);
  if (width < 20) return "";
  const short = model.split("/").at(-1) ?? model;
  const names = width < PROVIDER_FROM ? [short] : [model, short];
  const choices = names.flatMap((name, index) => {
    const parts = partsOf({ ...status, model: oneLine(name) }, theme);
    const least = index === names.length - 1 ? 0 : NEEDED;
    const ranks = [...new Set(parts.map(({ rank }) => rank))].filter((rank) => rank >= least).sort((a, b) => b - a);
    return ranks.map((most) => parts.filter(({ rank }) => rank <= most));
  });
  const fits = (parts: readonly Part[]) => widthOf(parts.map(({ text }) => text).join(BETWEEN)) <= width;
  const kept = choices.find(fits) ?? choices.at(-1) ?? [];
  return cut(kept.map(({ text, paint = theme.dim }) => paint(text)).join(theme.dim(BETWEEN)), width);
}

function partsOf(status: Status, theme: Theme): readonly Part[] {
  const { mode, approval, model, branch, context, processes = 0, beside = 0, tokens, cost, git } = status;
  const full = context !== undefined && context >= 0.8 ? theme.warning : theme.dim;
  const parts: readonly Part[] = [
    { text: mode, rank: mode === "task" ? NEEDED + 1 : 8 },
    { text: approval ?? "", rank: 1 },
    { text: model, rank: 0 },
    { text: processes > 0 ? `${processes} in the background` : "", rank: 3 },
    { text: beside > 0 ? `${counted(beside, "branch", "branches")} at work` : "", rank: 2 },
    { text: git === undefined ? "" : `git ${oneLine(git)}`, rank: 7 },
    { text: branch && branch.count > 1 ? `branch ${branch.number}/${branch.count}` : "", rank: NEEDED + 1 },
    {
      text: context === undefined ? "" : `context ${100 - Math.round(context * 100)} % left`,
      rank: NEEDED,
      paint: full,
    },
    { text: tokens > 0 ? `${shortCount(tokens)} tokens` : "", rank: 9 },
    { text: tokens > 0 ? (cost === undefined ? "cost unknown" : formatCost(cost)) : "", rank: 6 },
  ];
  return parts.filter(({ text }) => text !== "");
}
