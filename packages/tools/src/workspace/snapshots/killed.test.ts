import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { TestFolder } from "../test-folder.fixture.ts";
import type { Order, Outcome } from "./killed-snapshots.fixture.ts";
import { WorkspaceSnapshots } from "./snapshots.ts";
import { treeOf } from "./tree.fixture.ts";

const PROGRAM = fileURLToPath(new URL("killed-snapshots.fixture.ts", import.meta.url));

/** The compile cache lets programs start in a third of the time. */
const compiled = mkdtempSync(join(tmpdir(), "banyan-compiled-"));
afterAll(() => rmSync(compiled, { recursive: true }));

const SLOW = { timeout: 600_000 };
const SCOPE = { conversation: "talk", isOwn: () => true };
const OCCASION = { conversation: "talk", message: "m1", call: "c" };

/** The paths that the command changes. */
const CHANGED = ["a.txt", "b", "empty", "gone", "gone/d.txt", "link", "made", "made/e.txt"];

/** A workspace that a command has changed, with a snapshot before and after the command. */
class Scene extends TestFolder {
  readonly stores = join(this.outside, "snapshots");
  readonly #copies = join(this.outside, "copies");
  old: Record<string, string> = {};
  now: Record<string, string> = {};

  static async make(): Promise<Scene> {
    const scene = new Scene({ "a.txt": "old\n", "b/c.txt": "old\n", "gone/d.txt": "old\n" });
    mkdirSync(scene.path("empty"));
    symlinkSync("a.txt", scene.path("link"));
    scene.old = treeOf(scene.root);
    const snapshots = scene.open();
    await snapshots.before(OCCASION, "all");
    writeFileSync(scene.path("a.txt"), "new\n");
    chmodSync(scene.path("b"), 0o700);
    rmSync(scene.path("gone"), { recursive: true });
    rmSync(scene.path("empty"), { recursive: true });
    rmSync(scene.path("link"));
    writeFileSync(scene.path("link"), "no link\n");
    mkdirSync(scene.path("made"));
    writeFileSync(scene.path("made/e.txt"), "new\n");
    await snapshots.after(OCCASION);
    scene.now = treeOf(scene.root);
    return scene;
  }

  open(): WorkspaceSnapshots {
    return new WorkspaceSnapshots(openWorkspace(this.root), { folder: this.stores });
  }

  /** Runs the program to its end, and returns the states of the disk that a kill before each of its steps leaves. */
  async statesWhile(what: Order["what"]): Promise<string[]> {
    const copies = mkdtempSync(`${this.#copies}-`);
    const [outcome] = (await run({ what, fault: "copied", scenes: [this.place()], copies })) ?? [];
    return Array.from({ length: outcome?.instants ?? 0 }, (_, index) => join(copies, String(index + 1)));
  }

  /** Replaces the files and the store by those of a state. */
  become(state: string): void {
    for (const [name, place] of Object.entries({ root: this.root, stores: this.stores })) {
      rmSync(place, { recursive: true, force: true });
      renameSync(join(state, name), place);
    }
  }

  place(instant?: number): Order["scenes"][number] {
    return { root: this.root, stores: this.stores, ...(instant !== undefined && { instant }) };
  }

  /** Expects that the files are all old or all new. Returns whether they are old. */
  expectOldOrNew(which: string): boolean {
    const tree = treeOf(this.root);
    const isOld = JSON.stringify(tree) === JSON.stringify(this.old);
    expect(isOld ? this.old : this.now, which).toEqual(tree);
    return isOld;
  }
}

/** Returns whether a store has a restoration that a dead program left. */
function isUnfinished(stores: string): boolean {
  const [name] = readdirSync(stores).filter((each) => each.endsWith(".sqlite"));
  if (name === undefined) return false;
  const database = new DatabaseSync(join(stores, name));
  try {
    return database.prepare("SELECT count(*) AS steps FROM restorations").get()?.steps !== 0;
  } finally {
    database.close();
  }
}

/** Returns undefined if the program was killed. */
async function run(order: Order): Promise<readonly Outcome[] | undefined> {
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
    env,
  });
  const [said, [code, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
  if (signal === "SIGKILL") return undefined;
  if (code !== 0) throw new Error(`The program failed by itself: it ended with ${code}.`);
  return JSON.parse(said) as Outcome[];
}

/** Returns three instants, and all in long mode. */
function chosenAmong(instants: number): number[] {
  const all = Array.from({ length: instants }, (_, index) => index + 1);
  return process.env.BANYAN_LONG === "1" ? all : [0.25, 0.5, 0.75].map((part) => Math.ceil(part * instants));
}

test(
  "E7: killed at any step of a restoration, the files are all old or all new after the next start",
  SLOW,
  async () => {
    const ends = new Set<string>();
    const expectSettled = async (scene: Scene, which: string, isTakenBack: boolean) => {
      const told = await scene.open().settle();
      const isOld = scene.expectOldOrNew(which);
      if (told.length > 0) expect(told.join()).toContain("Banyan has completed the restoration.");
      const reports = await scene.open().reports("talk");
      ends.add(`${isOld} ${told.length} ${reports.length}`);
      if (isOld)
        expect(reports).toMatchObject([
          { leaf: "m1", message: "told", files: CHANGED.map((path) => ({ path, diff: expect.any(String) })) },
        ]);
      // The state before the restoration is still there.
      if (!isOld || !isTakenBack) return;
      const snapshots = scene.open();
      const look = (await snapshots.moments("talk")).filter(({ phase }) => phase === "look").at(-1);
      const plan = await snapshots.compare(look?.id ?? 0, SCOPE);
      expect((await snapshots.restore(plan, SCOPE)).problems).toEqual([]);
      expect(treeOf(scene.root)).toEqual(scene.now);
    };
    using scene = await Scene.make();
    const states = await scene.statesWhile("restore");
    expect(treeOf(scene.root)).toEqual(scene.old);
    expect(states.length).toBeGreaterThan(20);
    const chosen = chosenAmong(states.length);
    for (const [index, state] of states.entries()) {
      scene.become(state);
      await expectSettled(scene, `instant ${index + 1}`, chosen.includes(index + 1));
    }
    // Killed before the record: nothing changed. Killed later: completed, with a sentence and a report.
    expect([...ends].sort()).toEqual(["false 0 0", "true 1 1"]);
    for (const instant of chosen) {
      using killed = await Scene.make();
      expect(await run({ what: "restore", fault: "killed", scenes: [killed.place(instant)] })).toBeUndefined();
      await expectSettled(killed, `a kill at instant ${instant}`, true);
    }
    expect(ends.size).toBe(2);
  },
);

test("E7: killed at any step of completing a restoration, the next start completes it", SLOW, async () => {
  using scene = await Scene.make();
  const states = await scene.statesWhile("restore");
  const unfinished = states.filter((state) => isUnfinished(join(state, "stores")));
  const chosen = new Set([0, 0.5, 1].map((part) => unfinished[Math.floor(part * (unfinished.length - 1))] ?? ""));
  expect(chosen.size).toBe(3);
  for (const state of chosen) {
    scene.become(state);
    for (const later of await scene.statesWhile("settle")) {
      scene.become(later);
      await scene.open().settle();
      expect(treeOf(scene.root), `${state}, then ${later}`).toEqual(scene.old);
      expect(isUnfinished(scene.stores)).toBe(false);
    }
  }
});

test(
  "E7: on a disk that is full from any step of a restoration on, the files are all old or all new",
  SLOW,
  async () => {
    using scenes = new DisposableStack();
    const whole = scenes.use(await Scene.make());
    const [counted] = (await run({ what: "restore", fault: "full", scenes: [whole.place()] })) ?? [];
    const all: Scene[] = [];
    for (let instant = 1; instant <= (counted?.instants ?? 0); instant++) all.push(scenes.use(await Scene.make()));
    const places = all.map((scene, index) => scene.place(index + 1));
    const outcomes = (await run({ what: "restore", fault: "full", scenes: places })) ?? [];
    const ends = new Set<string>();
    for (const [index, scene] of all.entries()) {
      const isOld = scene.expectOldOrNew(`instant ${index + 1}`);
      await scene.open().settle();
      if (!isOld) scene.expectOldOrNew(`later than instant ${index + 1}`);
      ends.add(`${outcomes[index]?.isDone} ${isOld}`);
    }
    // The last step needs room too. A disk that is full before the files change leaves them; later, they are restored.
    expect([...ends].sort()).toEqual(["false false", "false true"]);
  },
);

test("E7: killed at any step of making a snapshot, the earlier snapshot can be restored", SLOW, async () => {
  using scene = await Scene.make();
  scene.add("later.txt", "later\n");
  const states = await scene.statesWhile("make");
  expect(states.length).toBeGreaterThan(3);
  for (const state of states) {
    scene.become(state);
    const snapshots = scene.open();
    const [first] = await snapshots.moments("talk");
    const plan = await snapshots.compare(first?.id ?? 0, SCOPE);
    expect((await snapshots.restore(plan, SCOPE)).problems).toEqual([]);
    expect(treeOf(scene.root)).toEqual(scene.old);
  }
});
