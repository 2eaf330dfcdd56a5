import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, leaves, Session } from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import { call, scriptedModel } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { bringTool, openWorkspace, workspaceTools } from "@banyan/tools/workspace";
import { bring, bringOptions } from "./bring.ts";
import { PlacedTools } from "./placed-tools.ts";
import { filesIn, KINDS, type Kind, PersonsRepository } from "./repository.fixture.ts";
import { Worktrees } from "./worktrees.ts";

export const CONVERSATION = "history";

/** The result of a history for its test, after any kind of end. */
export interface Left {
  /** The state of the user's files when Banyan last had control; undefined during an allowed change. */
  readonly fingerprint: string | undefined;
  /** Removed worktrees. */
  readonly removed: readonly string[];
}

export function kindOf(seed: number): Kind {
  return KINDS[seed % KINDS.length] as Kind;
}

export function leftOf(root: string): Left {
  return JSON.parse(readFileSync(join(root, "left.json"), "utf8"));
}

/** Random integers from 0 up to `below` (exclusive), the same for a seed. */
function numbersOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Runs a random history: branches begin, agents work on them, a user edits and commits at the same time, changes are brought
 * over, and worktrees are removed. Throws if anything of the user's changed unexpectedly.
 */
export async function history(person: PersonsRepository, seed: number, steps: number): Promise<void> {
  const random = numbersOf(seed);
  const removed: string[] = [];
  const note = (fingerprint: string | undefined) => {
    writeFileSync(join(person.root, "left.tmp"), JSON.stringify({ fingerprint, removed } satisfies Left));
    renameSync(join(person.root, "left.tmp"), join(person.root, "left.json"));
  };
  note(person.fingerprint);
  const store = sqliteStore({ directory: join(person.root, "data") });
  await using session = await Session.open(store, CONVERSATION, { create: true });
  const { state } = session;
  const trunk = await session.add("Find the bug.");
  const worktrees = new Worktrees({ folder: person.worktrees, workspace: person.workspace, env: person.env });
  const backups = join(person.root, "backups");
  await using placed = new PlacedTools(
    {
      worktrees,
      tools: (folder = person.workspace) => workspaceTools({ root: folder, backups }),
      confine: async () => ({
        sandbox: undefined,
        description: "",
        notices: [],
        [Symbol.asyncDispose]: async () => {},
      }),
    },
    undefined,
  );
  const source = bringOptions(worktrees, { env: person.env, whyNotReadIn: () => undefined });
  const bringer = bringTool(openWorkspace(person.workspace), { ...source, backups });
  const ends = () =>
    leaves(state).filter((leaf) => {
      const name = worktreeAt(state, leaf);
      return name !== undefined && !removed.includes(name);
    });
  const path = () => `${kindOf(seed) === "below" ? "" : "src/"}${1 + random(2)}/file-${1 + random(2)}.txt`;

  /** Runs an operation of Banyan that must not change the user's files. */
  const own = async (what: string, work: () => Promise<unknown>) => {
    const before = person.fingerprint;
    await work();
    if (person.fingerprint !== before) throw new Error(`${what} changed what is the person's (seed ${seed}).`);
  };
  /** Runs an operation that may change the user's files. */
  const theirs = async (work: () => unknown) => {
    note(undefined);
    await work();
    note(person.fingerprint);
  };

  for (let step = 0; step < steps; step++) {
    const all = ends();
    const leaf = all[random(all.length)];
    switch (leaf === undefined ? 0 : random(8)) {
      case 0: {
        const at = random(3) === 0 ? (leaf ?? trunk) : trunk;
        await own("to open", () =>
          worktrees.open(
            session,
            at,
            Array.from({ length: 1 + random(3) }, () => "attempt"),
          ),
        );
        break;
      }
      case 1:
      case 2:
      case 3: {
        const [file, text] = [path(), `${random(1000)}\nby an agent\n`];
        const calls = [
          call("write", { path: file, content: text }),
          call("shell", { command: `echo ${step} >> made-${random(3)}` }),
        ];
        const model = scriptedModel([calls, "Done."]);
        await own("to work", () => new Agent({ model, tools: placed.tools }).send("Go on.", { session, at: leaf }));
        break;
      }
      case 4:
        await theirs(() =>
          appendFileSync(join(person.workspace, path().replace("2/file-2", "1/file-1")), `by the person, ${step}\n`),
        );
        break;
      case 5:
        await theirs(() => person.commit(person.top, `step ${step}`));
        break;
      case 6: {
        const files = new Map(filesIn(person.top));
        const model = scriptedModel([]);
        const agent = new Agent({ model, tools: placed.tools });
        const to = newestTrunk(session, trunk);
        let turn: Awaited<ReturnType<typeof bring>>["turn"];
        await theirs(async () => {
          ({ turn } = await bring(session, { agent, worktrees, tool: bringer, from: leaf ?? trunk, to }));
        });
        const brought = turn ? JSON.stringify(turn.text) : "";
        const prefix = person.workspace.slice(person.top.length + 1);
        for (const [name, content] of filesIn(person.top))
          if (files.get(name) !== content && !brought.includes(prefix === "" ? name : name.slice(prefix.length + 1)))
            throw new Error(`${name} was changed, and not brought over (seed ${seed}).`);
        break;
      }
      case 7: {
        const name = worktreeAt(state, leaf) ?? "";
        removed.push(name);
        note(person.fingerprint);
        await own("to remove", () => worktrees.remove(name, { changes: true }));
        break;
      }
    }
  }
}

/** The leaf of the branch in the workspace. */
function newestTrunk({ state }: Session, trunk: string): string {
  return leaves(state).findLast((leaf) => worktreeAt(state, leaf) === undefined) ?? trunk;
}

// Runs as a program, so that a test can kill it.
const [, program, root, seed, steps] = process.argv;
if (program === import.meta.filename && root !== undefined) {
  await history(PersonsRepository.at(root, kindOf(Number(seed))), Number(seed), Number(steps));
}
