import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { settleIntents } from "../changes/settle-intents.ts";
import { openWorkspace } from "../files/paths.ts";
import { TestFolder } from "../test-folder.fixture.ts";

const PROGRAM = fileURLToPath(new URL("killed-program.fixture.ts", import.meta.url));
const PATHS = ["a.txt", "b.txt", "new/c.txt"];
const OLD = ["old\n", "old\n", undefined];
const NEW = ["new\n", "new\n", "new\n"];

/** The compile cache lets programs start in a third of the time. */
const compiled = mkdtempSync(join(tmpdir(), "banyan-compiled-"));
afterAll(() => rmSync(compiled, { recursive: true }));

/** For processes that start next to many others. */
const SLOW = { timeout: 120_000 };

/** The folder of programs that are killed. */
class Scene extends TestFolder {
  readonly backups = join(this.outside, "backups");

  constructor() {
    super({ "a.txt": "old\n", "b.txt": "old\n" });
  }

  /** Returns the program's output until its end or its death. */
  async run(what: "apply" | "settle", instant: number): Promise<{ readonly said: string[]; readonly killed: boolean }> {
    const parameters = [PROGRAM, what, this.root, this.backups, String(instant)];
    const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
    const child = spawn(process.execPath, parameters, { stdio: ["ignore", "pipe", "inherit"], env });
    const [said, [code, signal]] = await Promise.all([text(child.stdout), once(child, "close")]);
    if (code !== 0 && signal !== "SIGKILL") throw new Error(`The program failed by itself: it ended with ${code}.`);
    return { said: said.split("\n").slice(0, -1), killed: signal === "SIGKILL" };
  }

  settle(): Promise<string[]> {
    return settleIntents(openWorkspace(this.root), this.backups);
  }

  /** The content of each file; undefined if missing. */
  get contents(): (string | undefined)[] {
    return PATHS.map((path) => (existsSync(this.path(path)) ? this.read(path) : undefined));
  }

  /** Unexpected files. */
  get leftovers(): string[] {
    const names = [...readdirSync(this.root, { recursive: true }), ...readdirSync(join(this.backups, "intents"))];
    return names.map(String).filter((name) => ![...PATHS, "new"].includes(name));
  }
}

test(
  "F21: killed at any step that writes three files, none of them is new; and what the log tells of, is",
  SLOW,
  async () => {
    using whole = new Scene();
    const { said } = await whole.run("apply", 0);
    expect([said.slice(0, -1), whole.contents, whole.leftovers]).toEqual([PATHS, NEW, []]);
    const halves: number[][] = [];
    for (let instant = 1; instant <= Number(said.at(-1)); instant++) {
      using scene = new Scene();
      expect(await scene.run("apply", instant)).toEqual({ said: [], killed: true });
      const half = scene.contents;
      const told = await scene.settle();
      expect(scene.contents).toEqual(OLD);
      if (told.length > 0) expect(scene.leftovers).toEqual([]);
      expect(await scene.settle()).toEqual([]);
      halves.push([half.filter((content) => content === "new\n").length, told.length]);
    }
    // Three steps for writing the intent, three files, and the end of the intent.
    expect(halves).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 1],
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
  },
);

test("F21: killed at any step while it is put back, it is put back by the next one", SLOW, async () => {
  using scene = new Scene();
  await scene.run("apply", 6);
  expect(scene.contents).toEqual(["new\n", "new\n", undefined]);
  let instant = 1;
  while ((await scene.run("settle", instant)).killed) instant++;
  expect(instant).toBeGreaterThan(5);
  expect([scene.contents, await scene.settle()]).toEqual([OLD, []]);
});
