import { newestLeaf, type Session } from "@banyan/core";
import { type CallChanges, type ChangesPlace, type Host, revertBranch, type TakenBack, undoCall } from "@banyan/host";
import type { LeftBranch } from "./leave-files.ts";
import type { Standpoint } from "./standpoint.ts";

/** What a person has done to a branch without a turn, in a conversation of this process; they stand behind what that wrote. */
export class BranchChanges {
  readonly #host: Host;
  readonly #standpoint: Standpoint;
  readonly #open: () => Promise<Session>;

  constructor(host: Host, standpoint: Standpoint, open: () => Promise<Session>) {
    this.#host = host;
    this.#standpoint = standpoint;
    this.#open = open;
  }

  /** Puts the files of a branch that is left back to what they were before it. */
  async revert(left: LeftBranch): Promise<TakenBack> {
    return revertBranch(await this.#open(), await this.#place(), left);
  }

  /** Puts files back to what they were before a call changed them. */
  async undo(call: CallChanges): Promise<TakenBack> {
    const leaf = this.#standpoint.below;
    const taken = await undoCall(await this.#open(), await this.#place(), { ...call, leaf });
    if (taken.message !== undefined) this.#standpoint.standAt(taken.message);
    return taken;
  }

  /** Has the model sum up the branch down to a message; answers why it did not, if so. */
  async compact(at: string, keep: string | undefined): Promise<string | undefined> {
    await this.#host.ready();
    const [{ agent, redact }, session] = [this.#host, await this.#open()];
    const wanted = keep === undefined ? {} : { keep: redact(keep) };
    const problem = await agent.compact({ session, at, ...wanted });
    if (problem === undefined) this.#standpoint.standAt(newestLeaf(session.state, at));
    return problem;
  }

  /** Where the files are, and what they were. */
  async #place(): Promise<ChangesPlace> {
    const { workspace, redact } = this.#host;
    return { workspace, backups: (await this.#host.ready()).backups, redact };
  }
}
