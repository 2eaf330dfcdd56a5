import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { TestFolder } from "../test-folder.fixture.ts";
import { WorkspaceSnapshots } from "./snapshots.ts";
import { treeOf } from "./tree.fixture.ts";

const PROGRAM = fileURLToPath(new URL("killed-snapshots.fixture.ts", import.meta.url));

/** The compile cache lets programs start in a third of the time. */
const compiled = mkdtempSync(join(tmpdir(), "banyan-compiled-"));
afterAll(() => rmSync(compiled, { recursive: true }));

const SLOW = { timeout: 600_000 };
const SCOPE = { conversation: "talk", isOwn: () => true };
const OCCASION = { conversation: "talk", message: "m1", call: "c" };

/** A workspace that a command has changed, with a snapshot before and after the command. */
class Scene extends TestFolder {
  readonly stores = join(this.outside, "snapshots");
  old: Record<string, string> = {};

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
    return scene;
  }

  open(): WorkspaceSnapshots {
    return new WorkspaceSnapshots(openWorkspace(this.root), { folder: this.stores });
  }

  /** Returns whether the store has a restoration that a dead program left. */
  isUnfinished(): boolean {
    const [name = ""] = readdirSync(this.stores).filter((each) => each.endsWith(".sqlite"));
    const database = new DatabaseSync(join(this.stores, name));
    try {
      return database.prepare("SELECT count(*) AS steps FROM restorations").get()?.steps !== 0;
    } finally {
      database.close();
    }
  }

  /** Returns the number of instants, or undefined if the program was killed or had no room. */
  async run(
    what: "make" | "restore" | "settle",
    instant: number,
    then: "killed" | "full" = "killed",
  ): Promise<number | undefined> {
    const parameters = [PROGRAM, what, this.root, this.stores, String(instant), then];
    const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
    const child = spawn(process.execPath, parameters, { stdio: ["ignore", "pipe", "inherit"], env });
    const [said, [code, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
    if (code !== 0 && signal !== "SIGKILL") throw new Error(`The program failed by itself: it ended with ${code}.`);
    return signal === "SIGKILL" || said === "full\n" ? undefined : Number(said);
  }
}

test(
  "E7: killed at any step of a restoration, the files are all old or all new after the next start",
  SLOW,
  async () => {
    using whole = await Scene.make();
    const instants = (await whole.run("restore", 0)) ?? 0;
    expect(treeOf(whole.root)).toEqual(whole.old);
    expect(instants).toBeGreaterThan(20);
    const ends = new Set<string>();
    for (let instant = 1; instant <= instants; instant++) {
      using scene = await Scene.make();
      const now = treeOf(scene.root);
      expect(await scene.run("restore", instant)).toBeUndefined();
      const told = await scene.open().settle();
      const after = treeOf(scene.root);
      const isOld = JSON.stringify(after) === JSON.stringify(scene.old);
      expect(isOld ? scene.old : now, `instant ${instant}`).toEqual(after);
      if (told.length > 0) expect(told.join()).toContain("so this was completed.");
      ends.add(`${isOld} ${told.length}`);
      // The state before the restoration is still there.
      if (!isOld) continue;
      const snapshots = scene.open();
      const look = (await snapshots.moments("talk")).filter(({ phase }) => phase === "look").at(-1);
      const plan = await snapshots.compare(look?.id ?? 0, SCOPE);
      expect((await snapshots.restore(plan, SCOPE)).problems).toEqual([]);
      expect(treeOf(scene.root)).toEqual(now);
    }
    // Killed before the record: nothing changed. Killed later: completed, with a sentence.
    expect([...ends].sort()).toEqual(["false 0", "true 1"]);
  },
);

test("E7: killed at any step of completing a restoration, the next start completes it", SLOW, async () => {
  using scene = await Scene.make();
  const instants = (await scene.run("restore", 0)) ?? 0;
  let unfinished = 0;
  for (let at = instants; at > 0 && unfinished < 3; at -= 4) {
    using half = await Scene.make();
    await half.run("restore", at);
    if (!half.isUnfinished()) continue;
    unfinished++;
    let instant = 1;
    while ((await half.run("settle", instant)) === undefined) instant++;
    expect(treeOf(half.root)).toEqual(half.old);
    expect(half.isUnfinished()).toBe(false);
  }
  expect(unfinished).toBe(3);
});

test(
  "E7: on a disk that is full from any step of a restoration on, the files are all old or all new",
  SLOW,
  async () => {
    using whole = await Scene.make();
    const instants = (await whole.run("restore", 0, "full")) ?? 0;
    const ends = new Set<string>();
    for (let instant = 1; instant <= instants; instant++) {
      using scene = await Scene.make();
      const now = treeOf(scene.root);
      const isDone = (await scene.run("restore", instant, "full")) !== undefined;
      const after = treeOf(scene.root);
      const isOld = JSON.stringify(after) === JSON.stringify(scene.old);
      expect(isOld ? scene.old : now, `instant ${instant}`).toEqual(after);
      await scene.open().settle();
      const later = treeOf(scene.root);
      const isLaterOld = isOld || JSON.stringify(later) === JSON.stringify(scene.old);
      expect(isLaterOld ? scene.old : now, `later than instant ${instant}`).toEqual(later);
      ends.add(`${isDone} ${isOld}`);
    }
    // The last step needs room too. A disk that is full before the files change leaves them; later, they are restored.
    expect([...ends].sort()).toEqual(["false false", "false true"]);
  },
);

test("E7: killed at any step of making a snapshot, the earlier snapshot can be restored", SLOW, async () => {
  for (let instant = 1; ; instant++) {
    using scene = await Scene.make();
    scene.add("later.txt", "later\n");
    const isWhole = (await scene.run("make", instant)) !== undefined;
    const snapshots = scene.open();
    const [first] = await snapshots.moments("talk");
    const plan = await snapshots.compare(first?.id ?? 0, SCOPE);
    expect((await snapshots.restore(plan, SCOPE)).problems).toEqual([]);
    expect(treeOf(scene.root)).toEqual(scene.old);
    if (isWhole) break;
  }
});
