import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, Session } from "@banyan/core";
import { expect } from "vitest";
import { sqliteStore } from "../../sqlite/index.ts";
import { readAll } from "../../sqlite/store.fixture.ts";
import { goOn } from "./go-on.ts";
import { type Aftermath, doubleStartsIn, lossesIn, problemsOf, textLostIn } from "./invariants.ts";
import { World } from "./journey.ts";
import { type Fate, type Life, live } from "./victim.ts";
import { type Announcement, isInstant } from "./witness.ts";

/** True in long mode: the program is also killed at every text delta. */
export const LONG = process.env.BANYAN_LONG === "1";

/** Maximum number of concurrent programs, which mostly wait. */
const AT_ONCE = 4;

/** A program, the directories of its runs, and the agent that continues them. */
export class Matrix implements AsyncDisposable {
  readonly #program: string;
  readonly #agent: (world: World) => Agent;
  readonly #root: string;
  #made = 0;

  private constructor(program: string, agent: (world: World) => Agent, root: string) {
    this.#program = program;
    this.#agent = agent;
    this.#root = root;
  }

  /** Prepares a program. `put` copies the program into a folder and returns the file to start. */
  static async of(put: (folder: string) => Promise<string>, agent: (world: World) => Agent): Promise<Matrix> {
    const root = await mkdtemp(join(tmpdir(), "banyan-crash-"));
    return new Matrix(await put(join(root, "program")), agent, root);
  }

  newDirectory(): string {
    return join(this.#root, String(this.#made++));
  }

  async copyOf(directory: string): Promise<string> {
    const copy = this.newDirectory();
    await cp(directory, copy, { recursive: true });
    return copy;
  }

  /** Runs the program to its end or to its fate. */
  live(fate: Omit<Fate, "program" | "every">): Promise<Life> {
    return live({ ...fate, program: this.#program, every: LONG });
  }

  /** Continues a conversation whose process is gone. Returns the facts for the checks. */
  async aftermathOf(directory: string, seen: readonly Announcement[], how: "resume" | "say"): Promise<Aftermath> {
    const store = sqliteStore({ directory });
    try {
      const [conversation] = await store.list();
      const id = conversation?.id;
      const before = await store.open(id ?? "0000000000", { create: true });
      const kept = await readAll(before);
      await before.close();
      const session = await Session.open(store, id);
      const world = new World(directory);
      await goOn(session, this.#agent(world), how);
      await session.close();
      const after = await store.open(session.id);
      const log = await readAll(after);
      await after.close();
      const again = await Session.open(store, session.id);
      await again.close();
      return { seen, kept, log, state: session.state, reopened: again.state, effects: world.effects() };
    } finally {
      await store.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
  }
}

/** The results of many crashes. */
export class Figures {
  kills = 0;
  losses = 0;
  doubleStarts = 0;
  textLost = 0;
  readonly problems: string[] = [];
  readonly #matrix: Matrix;
  readonly #lengths = new Set<number>();

  constructor(matrix: Matrix) {
    this.#matrix = matrix;
  }

  /** Continues in both ways after a crash, each with a copy of the directory. */
  async add(directory: string, { killed, seen }: Life, moment: string): Promise<void> {
    if (killed) this.kills++;
    for (const how of ["resume", "say"] as const) {
      const aftermath = await this.#matrix.aftermathOf(await this.#matrix.copyOf(directory), seen, how);
      this.losses += lossesIn(aftermath).length;
      this.doubleStarts += doubleStartsIn(aftermath).length;
      this.textLost = Math.max(this.textLost, textLostIn(aftermath));
      this.#lengths.add(aftermath.kept.length);
      this.problems.push(...problemsOf(aftermath).map((problem) => `Killed ${moment}, then ${how}: ${problem}`));
    }
    await rm(directory, { recursive: true });
  }

  /** Prints the results. Fails if an invariant was violated. */
  tell(what: string): void {
    const { kills, losses, doubleStarts, textLost } = this;
    process.stdout.write(
      `${what}: ${kills} kills, ${this.#lengths.size} different logs left, ${losses} acknowledged facts lost, ` +
        `${doubleStarts} double starts, at most ${textLost} characters of streaming text lost\n`,
    );
    expect(this.problems).toEqual([]);
  }
}

/** Runs an action for each item, a few at once. */
export async function forAll<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await act(item);
  };
  // Wait for all before reporting the first failure: no program outlives its test.
  const workers = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const end of workers) if (end.status === "rejected") throw end.reason;
}

/** Returns the numbers of the instants of a run; in short mode only every `sample`-th. */
export function instantsOf({ seen }: Life, sample = 1): number[] {
  const all = seen.filter((told) => isInstant(told, LONG)).map((_, index) => index + 1);
  return LONG ? all : all.filter((at) => at % sample === 0);
}
