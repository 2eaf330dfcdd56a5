import { newestLeaf, type Session } from "@banyan/core";
import { visibleLine } from "@banyan/core/shown";
import {
  type CallChanges,
  type ChangesPlace,
  type Host,
  revertBranch,
  type TakenBack,
  undoCall,
  wasElsewhere,
} from "@banyan/host";

import type { Choice } from "../terminal/decision.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { LeftBranch } from "./leave-files.ts";
import type { Standpoint } from "./standpoint.ts";

/** What a person has done to a branch without a turn, in a conversation of this process; they stand behind what that wrote. */
export class BranchChanges {
  readonly #host: Host;
  readonly #terminal: Terminal;
  readonly #standpoint: Standpoint;
  readonly #open: () => Promise<Session>;

  constructor(host: Host, terminal: Terminal, standpoint: Standpoint, open: () => Promise<Session>) {
    this.#host = host;
    this.#terminal = terminal;
    this.#standpoint = standpoint;
    this.#open = open;
  }

  /** Puts the files of a branch that is left back to what they were before it. */
  async revert(left: LeftBranch): Promise<TakenBack> {
    return revertBranch(await this.#open(), await this.#place(), left);
  }

  /** Puts files back to what they were before a call changed them; asks first when it did so elsewhere (S17). */
  async undo(call: CallChanges): Promise<TakenBack> {
    const leaf = this.#standpoint.below;
    const session = await this.#open();
    const place = await this.#place();
    const agreed = wasElsewhere(session.state, [call.call]);
    if (agreed && !(await this.#isWanted(call, place.workspace))) return { changes: [], problems: [] };
    const taken = await undoCall(session, { ...place, agreed }, { ...call, leaf });
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

  async #isWanted({ changes }: CallChanges, workspace: string): Promise<boolean> {
    const decided = await this.#terminal.decide({
      title: "This conversation was brought in from elsewhere. Undoing would put back what it says was there before",
      body: changes.map(({ path, before }) => visibleLine(before === null ? `${path}: is deleted` : path)),
      question: `Put that back in ${visibleLine(workspace)}?`,
      choices: AGREE,
    });
    return decided?.key === "y";
  }

  /** Where the files are, and what they were. */
  async #place(): Promise<ChangesPlace> {
    const { workspace, redact } = this.#host;
    return { workspace, backups: (await this.#host.ready()).backups, redact };
  }
}

const AGREE: readonly Choice[] = [
  { key: "y", text: "yes, put it back", brief: "yes", words: ["yes", "Y"] },
  { key: "n", text: "no", words: ["no", "N"] },
];
