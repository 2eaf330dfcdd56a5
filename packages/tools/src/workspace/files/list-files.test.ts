import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { TestFolder } from "../test-folder.fixture.ts";
import { rulesDownTo } from "./git-ignore.ts";
import { listFiles } from "./list-files.ts";
import { openDirectory } from "./open-path.ts";
import { openWorkspace } from "./paths.ts";
import { plantPrograms } from "./planted.fixture.ts";
import { walk } from "./walk.ts";

const NAMES = ["a", "b", "build", "dist", "x.log", "keep.log", "c.ts", ".env", "sub"];
const RULES = [
  "*.log",
  "!keep.log",
  "build/",
  "/dist",
  "dist",
  "a/b",
  "**/c.ts",
  "sub/*",
  "!sub/a",
  ".env",
  "b/**",
  "# c",
  "",
];

/** Returns random numbers from a seed, so that failures can be repeated. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

test("S16: the list without git equals git's list, in random trees with random rules", async () => {
  const next = numbers(16);
  const pick = <T>(from: readonly T[]) => from[next(from.length)] as T;
  const rules = () => Array.from({ length: 1 + next(4) }, () => pick(RULES)).join("\n");
  for (let run = 0; run < (process.env.BANYAN_LONG ? 12 : 1); run += 1) {
    using folder = new TestFolder();
    execFileSync("git", ["init", "-q"], { cwd: folder.root });
    folder.add(".git/info/exclude", rules());
    const trees = Array.from({ length: 30 }, (_, tree) => `tree${tree}`);
    for (const tree of trees) {
      const paths = Array.from({ length: 25 }, () => Array.from({ length: 1 + next(4) }, () => pick(NAMES)).join("/"));
      for (const path of paths) addIfPossible(folder, `${tree}/${path}`, "");
      for (const inside of ["", `${pick(["a", "sub", "build"])}/`])
        addIfPossible(folder, `${tree}/${inside}.gitignore`, rules());
    }
    const listed = execFileSync("git", ["ls-files", "-z", "--others", "--exclude-standard"], { cwd: folder.root });
    const expected = listed.toString().split("\0").filter(Boolean).sort();
    expect(await listFiles(folder.root)).toEqual(expected);
  }
});

function addIfPossible(folder: TestFolder, path: string, content: string): void {
  try {
    folder.add(path, content);
  } catch {
    // A parent of the path is a file, or the path is a folder.
  }
}

test("a folder of a repository is listed by the rules of the whole", async () => {
  using folder = new TestFolder({
    ".gitignore": "dist\n/app/old\n",
    ".git/info/exclude": "*.tmp\n",
    "app/dist/x": "",
    "app/old/x": "",
    "app/a.ts": "",
    "app/a.tmp": "",
    "app/lib/dist/y": "",
    "app/lib/.ignore": "b.ts\n",
    "app/lib/b.ts": "",
  });
  expect(await listFiles(folder.path("app"))).toEqual(["a.ts", "lib/.ignore"]);
});

test("without a repository, the list leaves out files of other programs", async () => {
  using folder = new TestFolder({ "a.ts": "", "node_modules/x/y.js": "", ".venv/z": "", "sub/__pycache__/q": "" });
  expect(await listFiles(folder.root)).toEqual(["a.ts"]);
});

test("S21: a link is listed by its name, without its target", async () => {
  using folder = new TestFolder({ "a.ts": "" });
  symlinkSync(folder.outside, folder.path("out"));
  symlinkSync(".", folder.path("loop"));
  expect(await listFiles(folder.root)).toEqual(["a.ts", "loop", "out"]);
});

test("a removed folder has no files", async () => {
  using folder = new TestFolder();
  expect(await listFiles(folder.path("gone"))).toEqual([]);
});

test.each(["config", "gitdir", "commondir", "include"] as const)(
  "S16: listing a folder runs nothing that its git settings name (%s)",
  async (way) => {
    using folder = new TestFolder();
    mkdirSync(folder.path("w"));
    const planted = plantPrograms(folder.path("w"), way);
    expect(await listFiles(folder.path("w"))).toContain("notes.md");
    expect(planted.ran()).toBe("");
  },
);

test("S16: git runs programs in the fixture that tries each way", () => {
  using folder = new TestFolder();
  mkdirSync(folder.path("w"));
  const planted = plantPrograms(folder.path("w"));
  execFileSync("git", ["ls-files", "--others"], { cwd: folder.path("w") });
  expect(planted.ran()).toContain("fsmonitor");
});

test("S16: no rule and no depth of a folder blocks the process: the list ignores rules that cost too much", async () => {
  using folder = new TestFolder({
    ".gitignore": "**/a/**/a/**/a/**/a/**/b\n/a/**/a/**/a/**/a/c\n**/x/**/no.txt\n",
    "x/y/no.txt": "",
  });
  const deep = Array(190).fill("a").join("/");
  folder.add(`${deep}/end`, "");
  // Each of these rules would need billions of steps for the path.
  expect(await listFiles(folder.root)).toEqual([".gitignore", `${deep}/end`]);
  // Deep levels are not matched against rules.
  const [down, far] = [198, 210].map((levels) => `${Array(levels).fill("b").join("/")}/x/no.txt`) as [string, string];
  for (const path of [down, far]) folder.add(path, "");
  expect((await listFiles(folder.root)).filter((path) => path.startsWith("b"))).toEqual([far]);
});

test("S16: a long walk yields to other work, so that it can be cancelled", async () => {
  const rules = Array.from({ length: 5_000 }, (_, at) => `**/${at}*/**/x*y*z${at}`).join("\n");
  using folder = new TestFolder({ ".gitignore": rules });
  // In a single folder, so that the walk waits for the system only once.
  for (let at = 0; at < 200; at += 1) folder.add(`${"n".repeat(100)}${at}`, "");
  const workspace = openWorkspace(folder.root);
  await using directory = await openDirectory(workspace, workspace.root);
  const ended = new AbortController();
  const options = { depth: 100, rules: await rulesDownTo(workspace, "."), signal: ended.signal };
  const seen: string[] = [];
  const walked = (async () => {
    for await (const { path } of walk(workspace, directory, ".", options)) {
      if (seen.push(path) === 1) setImmediate(() => ended.abort(new Error("enough")));
    }
  })();
  await expect(walked).rejects.toThrow("enough");
  expect(seen.length).toBeLessThan(200);
});

test("the list uses the first rules if there are too many", async () => {
  const rules = Array.from({ length: 5_001 }, (_, at) => `f${at}`).join("\n");
  using folder = new TestFolder({ ".gitignore": rules, f4999: "", f5000: "", "sub/.gitignore": "g", "sub/g": "" });
  expect(await listFiles(folder.root)).toEqual([".gitignore", "f5000", "sub/.gitignore", "sub/g"]);
});
