import { chmodSync, chownSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { openSandbox, type SandboxOptions } from "./index.ts";
import { LoggedBwrap } from "./logged-bwrap.fixture.ts";
import { whyNoSandbox } from "./sandbox.fixture.ts";
import { SandboxTrial } from "./sandbox-trial.ts";

const HOUR = 3_600_000;

/** The options of a sandbox in `project` that remembers its trials in `kept`. */
function optionsFor(bwrap: LoggedBwrap, project: TestFolder, kept: TestFolder): SandboxOptions {
  return { root: project.root, env: bwrap.env, own: [kept.root], trials: kept.path("sandbox.json") };
}

/** Runs `touch made` in a sandbox. Rejects if the sandbox is unavailable, or refuses the command. */
async function touchIn(options: SandboxOptions): Promise<void> {
  const opening = await openSandbox(options);
  if (!opening.available) throw new Error(opening.reason);
  await using sandbox = opening.sandbox;
  await call(shellTool(openWorkspace(options.root), { sandbox }), { command: "touch made" });
}

describe("a machine with a sandbox", async () => {
  const reason = await whyNoSandbox();
  beforeEach(({ skip }) => {
    if (reason !== undefined) skip(reason);
  });

  test("V3: after a trial, the next sandbox starts no process before its first command", async () => {
    using bwrap = new LoggedBwrap();
    using project = new TestFolder();
    using other = new TestFolder();
    using kept = new TestFolder();
    await using first = await opened(optionsFor(bwrap, project, kept));
    expect(bwrap.starts).toBe(1);
    for (const folder of [project, other]) {
      await using next = await opened(optionsFor(bwrap, folder, kept));
      expect(next.network.domains).toEqual(first.network.domains);
      expect(bwrap.starts).toBe(1);
    }
    await touchIn(optionsFor(bwrap, other, kept));
    // The trial of the new process, and the command.
    expect(bwrap.starts).toBe(3);
    expect(other.names()).toContain("made");
  });

  test.each([
    ["another time of change of bubblewrap", (bwrap: LoggedBwrap) => utimesSync(bwrap.path, 1, 1), {}],
    ["other options", () => {}, { readDenied: ["/opt"] }],
    ["the option `again`", () => {}, { again: true }],
  ])("V3: %s leads to a new trial", async (_name, change, more) => {
    using bwrap = new LoggedBwrap();
    using project = new TestFolder();
    using kept = new TestFolder();
    const options = optionsFor(bwrap, project, kept);
    await (await opened(options))[Symbol.asyncDispose]();
    change(bwrap);
    await (await opened({ ...options, ...more }))[Symbol.asyncDispose]();
    expect(bwrap.starts).toBe(2);
  });

  test.each(["refuses", "opens"] as const)(
    "V3, S9: where an earlier trial worked and bubblewrap now %s, no command runs, and the next opening tries again",
    async (behaviour) => {
      using bwrap = new LoggedBwrap();
      using project = new TestFolder();
      using kept = new TestFolder();
      const options = optionsFor(bwrap, project, kept);
      await (await opened(options))[Symbol.asyncDispose]();
      bwrap.turns(behaviour);
      const opening = await openSandbox(options);
      if (!opening.available) throw new Error(opening.reason);
      {
        await using sandbox = opening.sandbox;
        await expect(sandbox.start()).rejects.toMatchObject({ name: "SandboxError", code: "system" });
        const tool = shellTool(openWorkspace(project.root), { sandbox });
        for (let times = 0; times < 2; times++)
          await expect(call(tool, { command: "touch made" })).rejects.toMatchObject({
            name: "NotExecutedError",
            cause: { name: "SandboxError", code: "system" },
          });
      }
      await expect(touchIn(options)).rejects.toThrow(/Commands cannot run in a sandbox/);
      expect(project.names()).toEqual([]);
    },
  );

  test("V3: a sandbox that is closed before its first command runs none", async () => {
    using bwrap = new LoggedBwrap();
    using project = new TestFolder();
    using kept = new TestFolder();
    const options = optionsFor(bwrap, project, kept);
    await (await opened(options))[Symbol.asyncDispose]();
    const sandbox = await opened(options);
    await sandbox[Symbol.asyncDispose]();
    const program = { file: "/bin/sh", args: ["-c", "true"], environment: {} };
    await expect(sandbox.wrap(program)).rejects.toMatchObject({ code: "closed" });
    expect(bwrap.starts).toBe(1);
  });
});

async function opened(options: SandboxOptions) {
  const opening = await openSandbox(options);
  if (!opening.available) throw new Error(opening.reason);
  return opening.sandbox;
}

test.skipIf(process.platform !== "linux")(
  "V3: a failed trial counts for its folder for an hour, and is repeated on request",
  async () => {
    using programs = new TestFolder();
    using project = new TestFolder();
    using other = new TestFolder();
    using kept = new TestFolder();
    using bwrap = new LoggedBwrap();
    bwrap.turns("refuses");
    for (const name of ["socat", "rg"]) writeFileSync(programs.path(name), "#!/bin/sh\n", { mode: 0o755 });
    const env = { ...bwrap.env, PATH: `${bwrap.env.PATH}:${programs.root}` };
    const tried = (more: object = {}) => openSandbox({ ...optionsFor(bwrap, project, kept), env, ...more });
    const failure = {
      available: false,
      reason: expect.stringMatching(/^Commands cannot run in a sandbox: .*No perm/s),
    };
    expect(await tried()).toMatchObject(failure);
    expect(await tried()).toEqual(await tried());
    expect(bwrap.starts).toBe(1);
    expect(await tried({ again: true })).toMatchObject(failure);
    expect(bwrap.starts).toBe(2);
    expect(await tried({ root: other.root })).toMatchObject(failure);
    expect(bwrap.starts).toBe(3);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + HOUR });
    try {
      expect(await tried()).toMatchObject(failure);
      expect(bwrap.starts).toBe(4);
    } finally {
      vi.useRealTimers();
    }
  },
);

test("V3: whatever the file contains, a trial without a result has none, and its result replaces the file", () => {
  using kept = new TestFolder();
  const file = kept.path("deep/sandbox.json");
  const subject = { programs: [process.execPath], options: {}, root: kept.root };
  fc.assert(
    fc.property(
      fc.oneof(fc.json(), fc.string(), fc.constantFrom("null", "[]", '{"__proto__":{"at":1}}')),
      (content) => {
        kept.add("deep/sandbox.json", content);
        const trial = new SandboxTrial(file, subject);
        expect(trial.find()).toBeUndefined();
        trial.keep({ works: true });
        expect(new SandboxTrial(file, subject).find()).toEqual({ works: true });
        expect(new SandboxTrial(file, { ...subject, options: { more: 1 } }).find()).toBeUndefined();
        trial.keep({ works: false, reason: "no" });
        expect(new SandboxTrial(file, subject).find()).toEqual({ works: false, reason: "no" });
        expect(new SandboxTrial(file, { ...subject, root: "/elsewhere" }).find()).toBeUndefined();
        trial.keep(undefined);
        expect(new SandboxTrial(file, subject).find()).toBeUndefined();
      },
    ),
  );
});

test("V3: the file keeps 64 results", () => {
  using kept = new TestFolder();
  const file = kept.path("sandbox.json");
  for (let root = 0; root < 70; root++)
    new SandboxTrial(file, { programs: [], options: {}, root: `/${root}` }).keep({ works: false, reason: "no" });
  expect(Object.keys(JSON.parse(kept.read("sandbox.json")))).toHaveLength(64);
});

test("V3: a result that cannot be kept leaves no file behind", () => {
  using kept = new TestFolder();
  mkdirSync(kept.path("sandbox.json"));
  const trial = new SandboxTrial(kept.path("sandbox.json"), { programs: [], options: {}, root: kept.root });
  trial.keep({ works: true });
  expect(trial.find()).toBeUndefined();
  expect(kept.names()).toEqual(["sandbox.json"]);
});

test.skipIf(process.platform === "win32")("V3: a result that another user may have written counts for nothing", () => {
  using kept = new TestFolder();
  const file = kept.path("sandbox.json");
  const trial = new SandboxTrial(file, { programs: [], options: {}, root: kept.root });
  const failed = { works: false, reason: "no" } as const;
  const spoils = [() => chmodSync(file, 0o620), () => chmodSync(file, 0o602)];
  if (process.getuid?.() === 0) spoils.push(() => chownSync(file, 65_534, 65_534));
  for (const spoil of spoils) {
    trial.keep(failed);
    expect(trial.find()).toEqual(failed);
    spoil();
    expect(trial.find()).toBeUndefined();
  }
  trial.keep(failed);
  expect(trial.find()).toEqual(failed);
});
