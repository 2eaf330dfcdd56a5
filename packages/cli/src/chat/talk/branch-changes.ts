import { visibleLine } from "@banyan/core/shown";
import { type CallChanges, wasElsewhere } from "@banyan/host";
import type { ConversationContext } from "../../commands/command.ts";
import type { Choice } from "../../terminal/decision.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { Standpoint } from "../user/standpoint.ts";
import type { TalkSession } from "./talk-session.ts";

/** Where branches are changed, and for whom. */
export interface BranchChangesOptions {
  readonly terminal: Terminal;
  readonly standpoint: Standpoint;
  /** Where the files are. */
  readonly workspace: string;
  /** The model that sums up; that of the conversation when absent. */
  readonly model: string | undefined;
  write(line: string): void;
  open(): Promise<TalkSession>;
}

/** What a person has done to a branch without a turn; they stand behind what that wrote. */
export function branchChanges(options: BranchChangesOptions): Pick<ConversationContext, "compact" | "undo"> {
  const { terminal, standpoint, workspace, model, write, open } = options;
  return {
    // Asks first when the call did so elsewhere (S17).
    async undo(call) {
      const { below } = standpoint;
      const session = await open();
      // Above the first message nothing was done.
      if (below === null) return { changes: [], problems: [] };
      const agreed = wasElsewhere(session.state, [call.call]);
      if (agreed && !(await isWanted(terminal, call, workspace))) return { changes: [], problems: [] };
      const taken = await session.undo(call.call, below, agreed);
      standpoint.wrote(taken.message);
      return taken;
    },
    async compact(at, keep) {
      write(terminal.style.dim("Summing up; Ctrl-C stops it."));
      const { summary, compaction, problem } = await (await open()).compact(at, { keep, model });
      standpoint.wrote(summary);
      return problem === undefined ? { compaction } : { problem };
    },
  };
}

async function isWanted(terminal: Terminal, { changes }: CallChanges, workspace: string): Promise<boolean> {
  // One call works in one place.
  const worktree = changes[0]?.worktree;
  const place = worktree === undefined ? visibleLine(workspace) : `the worktree ${visibleLine(worktree)}`;
  const decided = await terminal.decide({
    title: "This conversation was brought in from elsewhere. Undoing would put back what it says was there before",
    body: changes.map(({ path, before }) => visibleLine(before === null ? `${path}: is deleted` : path)),
    question: `Put that back in ${place}?`,
    choices: AGREE,
  });
  return decided?.key === "y";
}

const AGREE: readonly Choice[] = [
  { key: "y", text: "yes, put it back", brief: "yes", words: ["yes", "Y"] },
  { key: "n", text: "no", words: ["no", "N"] },
];
