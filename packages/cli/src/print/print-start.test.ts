import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { banyan, type Home, home, start } from "../testing/banyan.ts";
import { type ModelServer, modelServer, shell, write } from "../testing/model-server.ts";

const HI = ["-p", "hi", "--model", "openai-compatible/test"];

/** Modules that the published program may load from files for one answer. Each file takes Node about 0.2 ms. */
const MOST_FILES = 30;

/**
 * Bytes of these modules. All of undici would be 600,000 more than its part that sends requests. An unused part of zod,
 * such as its reader of JSON Schema, is 80,000.
 */
const MOST_BYTES = 4_050_000;

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

/** A bubblewrap that counts its starts, and the environment in which Banyan finds it. */
function countedBwrap(server: ModelServer) {
  const folder = join(place.workspace, "..", "bin");
  const file = join(folder, "bwrap");
  const [log, broken] = [join(folder, "log"), join(folder, "broken")];
  const real = spawnSync("sh", ["-c", "command -v bwrap"], { encoding: "utf8" }).stdout.trim() || "false";
  mkdirSync(folder);
  writeFileSync(
    file,
    `#!/bin/sh\ncase " $* " in *" -- "*) echo . >> ${log} ;; esac\n[ ! -e ${broken} ] || exit 1\nexec ${real} "$@"\n`,
    {
      mode: 0o755,
    },
  );
  return {
    file,
    env: { ...server.env, BANYAN_SANDBOX: "auto", PATH: [folder, place.env.PATH].join(delimiter) },
    /** From now on, this bubblewrap fails. Its identity stays the same. */
    breaks: () => writeFileSync(broken, ""),
    starts: () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").length - 1 : 0),
  };
}

/** Returns whether a trial of the sandbox has succeeded here. */
function hasSucceeded(): boolean {
  const file = join(place.env.BANYAN_HOME ?? "", "state", "sandbox.json");
  if (!existsSync(file)) return false;
  return Object.values<object>(JSON.parse(readFileSync(file, "utf8"))).some((result) => !("reason" in result));
}

/** The child processes of a process, by their ids. Linux only. */
function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const [, fields = ""] = readFileSync(`/proc/${name}/stat`, "utf8").split(") ");
        return Number(fields.split(" ")[1]) === parent;
      } catch {
        // The process has ended.
        return false;
      }
    })
    .map(Number);
}

test.skipIf(process.platform !== "linux")(
  "V3: after a first start, an answer starts no process and no sandbox, until bubblewrap changes",
  async ({ skip }) => {
    let parent = 0;
    const children: number[] = [];
    await using server = await modelServer(() => {
      children.push(...childrenOf(parent));
      return { text: "Hello." };
    });
    const bwrap = countedBwrap(server);
    const answer = async () => {
      const running = start(place, HI, { env: bwrap.env });
      parent = running.pid ?? 0;
      running.stdin.end();
      await new Promise((resolve) => running.once("close", resolve));
      return bwrap.starts();
    };
    // A trial starts bubblewrap for a command, and before that for a shared network if the machine permits one.
    const trial = await answer();
    if (!hasSucceeded()) skip("This machine has no sandbox.");
    expect(trial).toBeGreaterThan(0);
    children.length = 0;
    expect(await answer()).toBe(trial);
    expect(children).toEqual([]);
    utimesSync(bwrap.file, 1, 1);
    expect(await answer()).toBe(2 * trial);
    expect(server.asked).toHaveLength(3);
  },
);

test.skipIf(process.platform !== "linux")(
  "V3, S9: a file that claims a working sandbox lets no command run outside of it",
  async ({ skip }) => {
    await using server = await modelServer({ text: "Hello." }, shell("touch made"), { text: "Sorry." });
    const bwrap = countedBwrap(server);
    await banyan(place, HI, { env: bwrap.env });
    if (!hasSucceeded()) skip("This machine has no sandbox.");
    const allowed = [...HI, "--allow", "shell(touch *)"];
    bwrap.breaks();
    const { stdout } = await banyan(place, allowed, { env: bwrap.env });
    expect(stdout).toContain("Sorry.");
    expect(existsSync(join(place.workspace, "made"))).toBe(false);
  },
);

test.skipIf(process.platform !== "linux")("V3, S27: mode `all` does not rely on an earlier trial", async ({ skip }) => {
  await using server = await modelServer({ text: "Hello." }, write("made", "x"), { text: "Sorry." });
  const bwrap = countedBwrap(server);
  await banyan(place, HI, { env: bwrap.env });
  if (!hasSucceeded()) skip("This machine has no sandbox.");
  bwrap.breaks();
  const { stderr } = await banyan(place, [...HI, "--approval", "all"], {
    env: { ...bwrap.env, BANYAN_UNCONFINED: "" },
  });
  expect(stderr).toMatch(/needs a sandbox, and none is available/);
  expect(existsSync(join(place.workspace, "made"))).toBe(false);
});

test("V3: an answer loads few modules from files, and only the part of undici that it needs", async () => {
  await using server = await modelServer({ text: "Hello." });
  const list = join(place.workspace, "..", "modules");
  const hook = `import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(list)}, url + "\\n"); return next(url, context); } });`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
  await banyan(place, HI, { env: { ...server.env, NODE_OPTIONS } });
  const files = readFileSync(list, "utf8")
    .split("\n")
    .filter((url) => url.startsWith("file:"));
  expect(files.length).toBeGreaterThan(5);
  expect(files.length).toBeLessThanOrEqual(MOST_FILES);
  const bytes = files.map((url) => statSync(fileURLToPath(url)).size);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(MOST_BYTES);
});
