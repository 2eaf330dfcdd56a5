import { shortCount } from "@banyan/client/words";
import type { Cost } from "@banyan/core";
import type { PlanStep } from "@banyan/core/conversation";
import { counted, formatCost } from "@banyan/core/shown";
import { plainLine } from "../../../show/plain-text.ts";
import { cutToWidth, textWidth, withoutColors } from "../screen/cells.ts";
import type { Theme } from "../theme/theme.ts";

/** The facts that the status line below the prompt shows (T26). Unknown facts are absent and not shown. */
export interface Status {
  readonly mode: "chat" | "task";
  /** Approval mode in words, such as `asks before changes`. */
  readonly approval?: string;
  readonly model: string;
  /** Number of the present branch, and number of all branches. */
  readonly branch?: { readonly number: number; readonly count: number };
  /** Number of other branches with a live run. */
  readonly beside?: number;
  /** Used share of the model's context, from 0 to 1. */
  readonly context?: number;
  readonly processes?: number;
  readonly tokens: number;
  readonly cost: Cost;
  /** The plan of the branch, shown above the prompt while steps remain (T57). */
  readonly plan?: readonly PlanStep[];
  readonly git?: string | undefined;
  /** Name of the git worktree in which the branch works. */
  readonly worktree?: string | undefined;
  /** Output of the user's own status command, with colours; replaces all other facts. */
  readonly own?: string | undefined;
}

const BETWEEN = " · ";

/** A part of the status. Parts with a high rank are left out first. */
interface StatusPart {
  readonly text: string;
  readonly rank: number;
  readonly paint?: (text: string) => string;
}

/** Parts up to this rank are more important than the provider in the model's name. */
const NEEDED = 4;
const PROVIDER_FROM = 60;

/**
 * Formats the status on one line. With less room, leaves out the least important parts, and first the model's provider.
 * Below 20 columns, the line is empty.
 */
export function statusLine(status: Status, width: number, theme: Theme): string {
  const { own = "", model } = status;
  if (own !== "") return cutToWidth(theme.depth === 1 ? withoutColors(own) : own, width);
  if (width < 20) return "";
  const short = model.split("/").at(-1) ?? model;
  const names = width < PROVIDER_FROM ? [short] : [model, short];
  const choices = names.flatMap((name, index) => {
    const parts = statusParts({ ...status, model: plainLine(name) }, theme);
    const least = index === names.length - 1 ? 0 : NEEDED;
    const ranks = [...new Set(parts.map(({ rank }) => rank))].filter((rank) => rank >= least).sort((a, b) => b - a);
    return ranks.map((most) => parts.filter(({ rank }) => rank <= most));
  });
  const fits = (parts: readonly StatusPart[]) => textWidth(parts.map(({ text }) => text).join(BETWEEN)) <= width;
  const kept = choices.find(fits) ?? choices.at(-1) ?? [];
  return cutToWidth(kept.map(({ text, paint = theme.dim }) => paint(text)).join(theme.dim(BETWEEN)), width);
}

function statusParts(status: Status, theme: Theme): readonly StatusPart[] {
  const { mode, approval, model, branch, context, processes = 0, beside = 0, tokens, cost, git, worktree } = status;
  const full = context !== undefined && context >= 0.8 ? theme.warning : theme.dim;
  const parts: readonly StatusPart[] = [
    { text: mode, rank: mode === "task" ? NEEDED + 1 : 8 },
    { text: approval ?? "", rank: 1 },
    { text: model, rank: 0 },
    { text: processes > 0 ? `${processes} in the background` : "", rank: 3 },
    { text: beside > 0 ? `${counted(beside, "branch", "branches")} at work` : "", rank: 2 },
    { text: worktree === undefined ? "" : `worktree ${plainLine(worktree)}`, rank: 2 },
    { text: git === undefined ? "" : `git ${plainLine(git)}`, rank: 7 },
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
