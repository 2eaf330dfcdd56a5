import type { WaitingInput } from "../conversation/state.ts";
import { inputsFor } from "../conversation/tree/inbox.ts";
import { Branch } from "../run/branch.ts";
import type { TurnWatch } from "../run/new-run.ts";
import type { TurnAgent } from "../run/run.ts";
import { type Interruption, isLeft, SessionError } from "../session/error.ts";
import type { RunHandle } from "../session/runs.ts";
import type { Session } from "../session/session.ts";
import { type EndedTurn, placeOf, runTurn, type Turn, type TurnStart } from "./turn.ts";

/** Who drives a run, and what ends it. */
export interface Driving {
  readonly session: Session;
  /** The run is interrupted when one of them aborts, and is to hurry when another one does. */
  readonly signals: readonly (AbortSignal | undefined)[];
  /** Why it is interrupted then. */
  readonly left: Interruption;
}

/** A run that has the end of its branch. */
class Driven {
  readonly handle: RunHandle;
  readonly #session: Session;
  #branch: Branch;
  #isOver = false;

  constructor(session: Session, handle: RunHandle) {
    this.handle = handle;
    this.#session = session;
    const known = session.takePath(handle.leaf);
    // A long path is walked once, and not by each run that goes on where the one before ended.
    this.#branch = known instanceof Branch ? known : new Branch(session, handle.leaf);
  }

  get branch(): Branch {
    return this.#branch;
  }

  /** Before anything is written: goes to another end, once nobody has it. */
  async moveTo(leaf: string | null): Promise<void> {
    if (leaf === this.#branch.leaf) return;
    await this.handle.moveTo(leaf);
    this.#branch = new Branch(this.#session, leaf);
  }

  /** Ends this run and begins another one, before whoever waits for the branch. */
  goOn(leaf: string | null): RunHandle {
    this.#isOver = true;
    this.#session.keepPath(this.#branch);
    return this.handle.goOn(leaf);
  }

  /** Ends this run, whose work is done: the next one may begin. */
  done(): void {
    if (!this.#isOver) this.#session.keepPath(this.#branch);
    this.end();
  }

  /** Ends this run, however its work stands. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.handle.end(this.#branch.leaf);
  }
}

/**
 * Has something done at the end of a branch, by a run that has begun or waits for that end, and lets the next run onto the
 * branch, however it went. The one place that does so: for the turns of a chat, of tasks and of sub-agents, and for
 * summaries. Rejects with `Interruption` when the run is interrupted before it begins.
 *
 * ```
 * begun ──▶ the end of the branch is free ──▶ work ──▶ end ──▶ whoever waits for it
 *                                              ╰──▶ goOn ──▶ work, with what was said meanwhile
 * ```
 */
export async function drive<Result>(
  begun: RunHandle | Promise<RunHandle>,
  { session, signals, left }: Driving,
  work: (run: Driven) => Promise<Result>,
): Promise<Result> {
  const handle = await begun;
  using _ = interruptOn(signals, handle, left);
  const run = new Driven(session, handle);
  try {
    const result = await work(run);
    run.done();
    return result;
  } finally {
    run.end();
  }
}

/**
 * Interrupts a run whenever one of the signals aborts, until what is returned is disposed of: for the reason that is given,
 * unless the signal aborts because its session or its reader goes.
 */
function interruptOn(
  signals: readonly (AbortSignal | undefined)[],
  handle: RunHandle,
  reason: Interruption,
): Disposable {
  const interrupt = () => {
    const leaving = signals.find((signal) => signal && isLeft(signal));
    handle.interrupt(leaving?.reason ?? reason);
  };
  for (const signal of signals) {
    if (signal?.aborted) interrupt();
    else signal?.addEventListener("abort", interrupt, { once: true });
  }
  return {
    [Symbol.dispose]() {
      for (const signal of signals) signal?.removeEventListener("abort", interrupt);
    },
  };
}

/** With what turns are taken, one after the other. */
export interface TakingTurns extends Driving {
  /** Made ready once the branch is there; throws for options that no turn can have. */
  agent(): TurnAgent;
  readonly watch: TurnWatch;
  /** Where a turn with what was said meanwhile begins, of the message at which the one before ended. */
  where(leaf: string | null): string | null;
  /** Whether there is to be such a turn. */
  goesOn(): boolean;
  onTurn?(turn: Turn): void;
}

/** The last of the turns that were taken, and where its branch ends. */
export interface Taken extends EndedTurn {
  readonly leaf: string | null;
}

/**
 * Takes a turn, and another one for each time that somebody said something while the one before came to its end: nobody is
 * asked for a line who has said it already, and it comes before whoever waits for the branch.
 */
export async function takeTurns(
  first: RunHandle | Promise<RunHandle>,
  startOn: (branch: Branch) => TurnStart,
  taking: TakingTurns,
): Promise<Taken> {
  const { session } = taking;
  let begun = first;
  let { watch } = taking;
  let ended: EndedTurn | undefined;
  let leaf: string | null = null;
  let inputs: readonly WaitingInput[] = [];
  for (;;) {
    try {
      ended = await drive(begun, taking, async (run) => {
        leaf = run.branch.leaf;
        const start: TurnStart = ended ? { type: "inputs", parentId: leaf, inputs } : startOn(run.branch);
        await run.moveTo(placeOf(start));
        const taken = await runTurn(run.handle, session, taking.agent(), run.branch, start, watch);
        leaf = run.branch.leaf;
        // Somebody steers in the moment in which the turn ends: the run was live, so `session.say` took the text, and the last
        // step is over, so no step will hear it. It stands in the log with the id of this run: looked for here, after
        // `run.ended` and in the tick in which the branch is handed on, it begins the next turn. After this look the run is not
        // live any more.
        const { reason, id } = taken.turn;
        inputs = reason !== "waiting" && taking.goesOn() ? inputsFor(session.state, id) : [];
        if (inputs.length > 0) begun = run.goOn(taking.where(leaf));
        else run.done();
        return taken;
      });
    } catch (error) {
      // What was said was taken back before it could be heard: it is as if it had not been said.
      if (ended && error instanceof SessionError && error.code === "no-input") return { ...ended, leaf };
      throw error;
    }
    taking.onTurn?.(ended.turn);
    if (inputs.length === 0) return { ...ended, leaf };
    // Another user may have sent the message of the next turn, which has limits of its own.
    watch = { ...watch, client: undefined, before: undefined };
  }
}
