import { counted, visibleLine } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { plainLine } from "./plain-text.ts";
import type { Style } from "./style.ts";

type Worktree = Omit<Result<"worktree.list">["worktrees"][number], "files"> & {
  readonly files: readonly {
    readonly path: string;
    readonly kind: string;
    readonly added: number;
    readonly removed: number;
  }[];
};

/** Maximum files that are named. The others are counted. */
const SHOWN = 10;

/** Describes worktrees and their contents for users. `conversation` is the current conversation. */
export function worktreeLines(
  worktrees: readonly Worktree[],
  { style, conversation }: { readonly style: Style; readonly conversation?: string },
): string[] {
  if (worktrees.length === 0) return ["No branch has its own git worktree. /worktree or /fan creates a worktree."];
  return worktrees.flatMap(({ name, folder, files, commits, isGone, conversation: whose }) => {
    const held = [
      ...(isGone ? ["its files were removed by hand"] : []),
      ...(files.length > 0 ? [counted(files.length, "changed file")] : []),
      ...(commits > 0 ? [counted(commits, "commit")] : []),
    ];
    const elsewhere = conversation === undefined || whose === conversation ? "" : `, of the conversation ${whose}`;
    const more = files.length - SHOWN;
    return [
      `${style.bold(visibleLine(name))}  ${held.length === 0 ? "has no changes" : held.join(", ")}${elsewhere}`,
      style.dim(`  ${visibleLine(folder)}`),
      ...files
        .slice(0, SHOWN)
        .map(({ path, kind, added, removed }) => `  ${kind} ${plainLine(path)} +${added} -${removed}`),
      ...(more > 0 ? [`  … and ${counted(more, "more file")}`] : []),
    ];
  });
}
