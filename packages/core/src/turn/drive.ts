import type { Message } from "../conversation/message.ts";
import type { WaitingInput } from "../conversation/state.ts";
import { inputsFor } from "../conversation/tree/inbox.ts";
import type { TaskAgent } from "../ports/tool.ts";
import { RunBranch } from "../run/branch.ts";
import type { TurnWatch } from "../run/new-run.ts";
import type { TurnAgent } from "../run/run.ts";
import { type Interruption, isReaderGone, SessionError } from "../session/error.ts";
import type { RunHandle } from "../session/runs.ts";
import type { Session } from "../session/session.ts";
import { type EndedTurn, runTurn, type Turn, type TurnStart, turnStartLeaf } from "./turn.ts";

/**
 * Interrupts a run when a signal aborts. After a second abort, running calls must end at once. All turns of a chat
 * share one object, because listeners on a signal are expensive.
 */
export class Interrupts implements Disposable {
  readonly #signals: readonly (AbortSignal | undefined)[];
  readonly #reason: Interruption;
  #run: RunHandle | undefined;

  /** `reason`: the reason of an interruption, unless the session or the reader of the run goes away. */
  constructor(signals: readonly (AbortSignal | undefined)[], reason: Interruption) {
    this.#signals = signals;
    this.#reason = reason;
    for (const signal of signals) signal?.addEventListener("abort", this.#interrupt, { once: true });
  }

  /** Selects the run to interrupt; interrupts at once for each signal that has aborted already. */
  watch(run: RunHandle): void {
    this.#run = run;
    for (const signal of this.#signals) if (signal?.aborted) this.#interrupt();
  }

  [Symbol.dispose](): void {
    for (const signal of this.#signals) signal?.removeEventListener("abort", this.#interrupt);
  }

  readonly #interrupt = () => {
    const leaving = this.#signals.find((signal) => signal && isReaderGone(signal));
    this.#run?.interrupt(leaving?.reason ?? this.#reason);
  };
}

export interface DriveOptions {
  readonly session: Session;
  readonly interrupts: Interrupts;
}

class DrivenRun {
  readonly handle: RunHandle;
  readonly #session: Session;
  #branch: RunBranch;
  #isOver = false;

  constructor(session: Session, handle: RunHandle) {
    this.handle = handle;
    this.#session = session;
    const known = session.runs.takePath(handle.leaf);
    // A long path is walked once, and not by each run that continues at the end of the last run.
    this.#branch = known instanceof RunBranch ? known : new RunBranch(session, handle.leaf);
  }

  get branch(): RunBranch {
    return this.#branch;
  }

  /** Moves to another end before anything is written, once no other run has that end. */
  async moveTo(leaf: string | null): Promise<void> {
    if (leaf === this.#branch.leaf) return;
    await this.handle.moveTo(leaf);
    this.#branch = new RunBranch(this.#session, leaf);
  }

  /** Ends this run and begins another run, ahead of all that wait for the branch. */
  goOn(leaf: string | null): RunHandle {
    this.#isOver = true;
    this.#session.runs.keepPath(this.#branch);
    return this.handle.goOn(leaf);
  }

  /** Ends this run after its work, and lets the next run begin. */
  done(): void {
    if (!this.#isOver) this.#session.runs.keepPath(this.#branch);
    this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.handle.end(this.#branch.leaf);
  }
}

/**
 * Runs `work` at the end of a branch. Then the next run gets the branch, even if `work` failed. Rejects with
 * `Interruption` when the run is interrupted before it begins.
 * ```
 * begun ──▶ the end of the branch is free ──▶ work ──▶ end ──▶ the next waiting run
 *                                              ╰──▶ goOn ──▶ work, with the inputs sent meanwhile
 * ```
 */
export async function runOnBranch<Result>(
  begun: RunHandle | Promise<RunHandle>,
  { session, interrupts }: DriveOptions,
  work: (run: DrivenRun) => Promise<Result>,
): Promise<Result> {
  const handle = await begun;
  const run = new DrivenRun(session, handle);
  interrupts.watch(handle);
  try {
    const result = await work(run);
    run.done();
    return result;
  } finally {
    run.end();
  }
}

export interface TurnLoopOptions extends DriveOptions {
  /** Prepares the agent for a path, once the run has its branch. Throws for invalid options. */
  agent(path: readonly Message[]): TurnAgent | Promise<TurnAgent>;
  /** Prepares the agent that continues the turn after a hand-off. */
  handedTo(agent: TaskAgent): TurnAgent;
  readonly watch: TurnWatch;
  /** Returns the leaf at which a turn with the inputs sent meanwhile begins, from the leaf of the turn before. */
  where(leaf: string | null): string | null;
  continues(): boolean;
  onTurn?(turn: Turn): void;
}

export interface LastTurn extends EndedTurn {
  readonly leaf: string | null;
}

/** Takes a turn with its hand-overs, and then turns for inputs that arrive at its end. Other runs wait meanwhile. */
export async function takeTurns(
  first: RunHandle | Promise<RunHandle>,
  startOn: (branch: RunBranch) => TurnStart,
  taking: TurnLoopOptions,
): Promise<LastTurn> {
  const { session } = taking;
  let begun = first;
  let { watch } = taking;
  let ended: EndedTurn | undefined;
  let leaf: string | null = null;
  let inputs: readonly WaitingInput[] = [];
  let agent: TurnAgent | undefined;
  for (;;) {
    try {
      ended = await runOnBranch(begun, taking, async (run) => {
        leaf = run.branch.leaf;
        const start = ended ? nextStart(ended, leaf, inputs) : startOn(run.branch);
        await run.moveTo(turnStartLeaf(start));
        const chosen = agent ?? taking.agent(run.branch.path);
        // Without a promise, no microtask lies between the start and the turn.
        agent = chosen instanceof Promise ? await chosen : chosen;
        const taken = await runTurn(run.handle, session, agent, run.branch, start, watch);
        leaf = run.branch.leaf;
        // An input may arrive just as the turn ends: `session.say` took it, but no step will read it. This check, after
        // `run.ended` and in the tick in which the branch is passed on, starts the next turn with it. After the check
        // the run is no longer live.
        const { reason, id } = taken.turn;
        inputs = reason !== "waiting" && taking.continues() ? inputsFor(session.state, id) : [];
        // Before the next run begins: invalid options of the agent would leave that run without an end.
        if (taken.handsTo) agent = taking.handedTo(taken.handsTo);
        if (inputs.length === 0 && !taken.handsTo) {
          run.done();
          return taken;
        }
        const next = run.goOn(taking.where(leaf));
        const { signal } = run.handle;
        // An interrupt ends the turn, whichever agent has it.
        if (taken.handsTo && signal.aborted) next.interrupt(signal.reason);
        begun = next;
        return taken;
      });
    } catch (error) {
      // The inputs were withdrawn before they could be read, as if they had never been sent.
      if (ended && error instanceof SessionError && error.code === "no-input") return { ...ended, leaf };
      throw error;
    }
    if (ended.handsTo) continue;
    taking.onTurn?.(ended.turn);
    if (inputs.length === 0) return { ...ended, leaf };
    // Another user may have sent the message of the next turn, so that turn has its own limits.
    watch = { ...watch, client: undefined, before: undefined };
  }
}

/** After a hand-off, the run takes over the inputs of the run before. */
function nextStart({ handsTo }: EndedTurn, leaf: string | null, inputs: readonly WaitingInput[]): TurnStart {
  return handsTo ? { type: "here", leaf } : { type: "inputs", parentId: leaf, inputs };
}
