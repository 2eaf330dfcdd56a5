import { spawnSync } from "node:child_process";
import { linkSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openSandbox, type Sandbox } from "../../sandbox/sandbox.ts";
import { Scene } from "./scene.fixture.ts";
import { change, treeOf } from "./tree.fixture.ts";
import { coveringPaths } from "./tree-paths.ts";

const IS_LONG = process.env.BANYAN_LONG === "1";
const BOUNDS = { file: 2_000, ignored: 500 };

/** A workspace with a file of each kind that no snapshot keeps, between other files. */
function mixedScene(): Scene {
  const scene = new Scene({
    ".git/HEAD": "ref: refs/heads/main\n",
    ".gitignore": "*.log\nnode_modules\n",
    "package.json": "{}\n",
    "node_modules/x.js": "1\n",
    a: "first\n",
    "b/c": "kept\n",
    "c/deep/a": "x".repeat(3_000),
    "sub/.git/HEAD": "ref: refs/heads/main\n",
    "sub/a": "kept\n",
    "out.log": "x".repeat(600),
  });
  writeFileSync(join(scene.outside, "linked"), "linked\n");
  linkSync(join(scene.outside, "linked"), scene.path("sub/b"));
  return scene;
}

test("S37: what no rewind restores is listed: repositories, large and ignored files, and files with another name", async () => {
  using scene = mixedScene();
  const unkept = [".git", "c/deep/a", "out.log", "sub/.git", "sub/b"].map((path) => scene.path(path));
  expect((await scene.open(BOUNDS).unkept("talk")).toSorted()).toEqual(unkept);
  // The next look lists only changed folders, and finds the same paths.
  expect((await scene.open(BOUNDS).unkept("talk")).toSorted()).toEqual(unkept);
});

test("S37: if the whole workspace cannot be kept, a command would have nothing to change", async () => {
  using scene = new Scene(Object.fromEntries(Array.from({ length: 120 }, (_, index) => [`f${index}`, "x".repeat(30)])));
  await expect(scene.open({ file: 20 }).unkept("talk")).rejects.toThrow("Snapshots are not possible");
});

test("S37: folders replace many paths, and contain all of them", () => {
  const path = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 5 }).map((names) => names.join("/"));
  fc.assert(
    fc.property(fc.uniqueArray(path), fc.integer({ min: 1, max: 9 }), (paths, most) => {
      const covering = coveringPaths(paths, most);
      expect(covering.length).toBeLessThanOrEqual(most);
      const isIn = (inner: string, folder: string) => folder === "" || `${inner}/`.startsWith(`${folder}/`);
      for (const one of paths) expect(covering.filter((folder) => isIn(one, folder))).toHaveLength(1);
      if (paths.length <= most) expect(covering.every((one) => paths.includes(one))).toBe(true);
    }),
  );
});

const MAKE = `
const { make } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, "tree.fixture.ts")).href)});
const { spawnSync } = await import("node:child_process");
for (const each of JSON.parse(process.argv[1])) try {
  if (each.type === "run") spawnSync("bash", ["-c", each.text], { timeout: 1000 });
  else make(process.cwd(), each);
} catch { process.exitCode = 3; }
`;

/** Commands that try to leave what a rewind does not restore, or what later programs outside the sandbox obey. */
const HOSTILE = [
  "mkdir -p new/.git/hooks new/in/.git; echo evil > new/.git/config; echo evil > new/.git/hooks/post-checkout",
  "mkdir -p deep/.git/.git/x/.git; echo evil > deep/.git/.git/x/.git/config",
  "mkdir -p linked pointed piped; ln -s ../sub/.git linked/.git; echo 'gitdir: ../sub/.git' > pointed/.git; mkfifo piped/.git",
  "mkfifo pipe; rm -rf a b; mkfifo a b",
  "touch $'bad\\xff' $'bad\\xfe'; mkdir -p $'folder\\xff'; echo evil > $'folder\\xff/file'",
  "echo evil > b/c; chmod 000 b",
  "mkdir -p shut/in/.git; echo evil > shut/in/f; chmod 000 shut/in; chmod 300 shut",
  "mkdir -p tight/.git; chmod 555 tight",
  "ln a hard; echo evil > hard; ln -s /etc/passwd out; ln -s .. up",
  "echo evil > .envrc; mkdir -p x/.vscode; echo evil > x/.vscode/settings.json; echo evil > package.json",
  "mv b/c moved; mkdir -p b/c/d; head -c 5000 /dev/zero > a; head -c 5000 /dev/zero > large",
  "chmod 4777 a b; mkdir -m 1777 open; echo evil > .gitignore",
];

/** Makes changes in a sandbox where the unkept paths are read-only. */
async function makeInside(scene: Scene, sandbox: Sandbox, changes: unknown, readOnly: readonly string[] | undefined) {
  const args = ["--input-type=module", "-e", MAKE, JSON.stringify(changes)];
  const environment = { PATH: process.env.PATH ?? "" };
  using program = await sandbox.wrap({ file: process.execPath, args, environment }, { readOnly });
  const { status, stderr } = spawnSync(program.file, program.args, {
    cwd: scene.root,
    env: program.environment,
    encoding: "utf8",
  });
  await program.ended();
  if (status !== 0 && status !== 3) throw new Error(stderr);
}

test("S37: after any commands that can write only what snapshots keep, a rewind restores every byte", {
  timeout: 600_000,
}, async ({ skip }) => {
  using scene = mixedScene();
  const opening = await openSandbox({ root: scene.root, writable: [scene.outside] });
  if (!opening.available) return skip(opening.reason);
  await using sandbox = opening.sandbox;
  const first = treeOf(scene.root, ["node_modules"]);
  const runs = async (changes: unknown) => {
    const snapshots = scene.open(BOUNDS);
    const readOnly = await snapshots.unkept("talk");
    const moment = (await snapshots.moments("talk")).length;
    const occasion = { conversation: "talk", message: `run-${moment}`, call: "c" };
    await snapshots.before(occasion, "all");
    await makeInside(scene, sandbox, changes, readOnly);
    await snapshots.afterLimited(occasion, readOnly);
    const { problems } = await scene.rewind(snapshots, occasion.message);
    expect(problems).toEqual([]);
    expect(treeOf(scene.root, ["node_modules"])).toEqual(first);
    expect(readFileSync(join(scene.outside, "linked"), "utf8")).toBe("linked\n");
  };
  // Each path that no snapshot keeps, and each folder around one.
  const paths = [".git", ".git/HEAD", "c", "c/deep", "c/deep/a", "sub", "sub/.git/HEAD", "sub/b", "out.log"];
  await runs(
    paths.flatMap((path) => [
      { type: "write", path, text: "evil\n" },
      { type: "mode", path, mode: 0o700 },
      { type: "rename", path, to: "moved" },
      { type: "remove", path },
      { type: "link", path, to: "a" },
    ]),
  );
  const hostile = HOSTILE.map((text) => ({ type: "run", text }));
  await runs(hostile);
  const each = fc.oneof({ weight: 3, arbitrary: change }, fc.constantFrom(...hostile));
  await fc.assert(
    fc.asyncProperty(fc.array(each, { minLength: 1, maxLength: 8 }), (changes) => runs(changes)),
    { numRuns: IS_LONG ? 100 : 4 },
  );
  // Without the limit, the same changes are possible.
  await makeInside(scene, sandbox, [{ type: "write", path: "out.log", text: "evil\n" }], undefined);
  expect(scene.read("out.log")).toBe("evil\n");
});

test("S37: names of repositories that a command made are told, and repositories of before keep their names", async () => {
  using scene = mixedScene();
  const snapshots = scene.open(BOUNDS);
  const unkept = await snapshots.unkept("talk");
  const occasion = { conversation: "talk", message: "run", call: "c" };
  await snapshots.before(occasion, "all");
  const first = treeOf(scene.root, ["node_modules"]);
  mkdirSync(scene.path("new/.git"), { recursive: true });
  writeFileSync(scene.path("new/.git/config"), "evil\n");
  expect(await snapshots.afterLimited(occasion, unkept)).toEqual({
    changedFiles: 1,
    notices: [
      "A command made a repository in new. git obeys the settings of a repository, so its .git was renamed to .git-put-aside.",
    ],
  });
  expect(scene.read("new/.git-put-aside/config")).toBe("evil\n");
  await scene.rewind(snapshots, occasion.message);
  expect(treeOf(scene.root, ["node_modules"])).toEqual(first);
});

test("S37: a rewind also removes more files than a workspace with snapshots may have", async () => {
  using scene = new Scene({ a: "" });
  const snapshots = scene.open({ entries: 20 });
  const unkept = await snapshots.unkept("talk");
  const occasion = { conversation: "talk", message: "run", call: "c" };
  await snapshots.before(occasion, "all");
  for (let count = 0; count < 30; count++) writeFileSync(scene.path(`f${count}`), "");
  await snapshots.afterLimited(occasion, unkept);
  await expect(snapshots.unkept("talk")).rejects.toThrow("more than 20 files");
  expect((await scene.rewind(snapshots, occasion.message)).problems).toEqual([]);
  expect(scene.names()).toEqual(["a"]);
});

test("S37: with the limit, a program writes in no other folder of the sandbox", async ({ skip }) => {
  using scene = new Scene({ a: "" });
  const opening = await openSandbox({ root: scene.root, writable: [scene.outside] });
  if (!opening.available) return skip(opening.reason);
  await using sandbox = opening.sandbox;
  const changes = [{ type: "write", path: "../outside/new", text: "here\n" }];
  await makeInside(scene, sandbox, changes, []);
  expect(() => readFileSync(join(scene.outside, "new"))).toThrow("ENOENT");
  await makeInside(scene, sandbox, changes, undefined);
  expect(readFileSync(join(scene.outside, "new"), "utf8")).toBe("here\n");
});
