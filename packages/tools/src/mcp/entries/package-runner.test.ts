import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSandbox, type ProgramLaunch } from "../../sandbox/index.ts";
import { puppet, TestServers } from "../testing/surroundings.fixture.ts";
import { serverLaunch } from "./package-runner.ts";

const WORKSPACE = "/home/anna/garden";

describe("the start folder of a server", () => {
  test.each([
    ["npx", "-y", "server"],
    ["/usr/bin/npx", "server"],
    ["npx.cmd", "server"],
    ["npm", "--yes", "exec", "server"],
    ["pnpm", "--silent", "dlx", "server"],
    ["yarn", "dlx", "server"],
    ["bunx", "server"],
    ["bun", "x", "server"],
    ["uvx", "server"],
    ["uv", "--offline", "tool", "run", "server"],
    ["pipx", "run", "server"],
    ["deno", "run", "-A", "jsr:@a/server"],
  ])("S16: %s %s starts outside the workspace", (command, ...args) => {
    expect(serverLaunch({ command, args }, WORKSPACE)).toEqual({ directory: "/", args });
  });

  test.each([
    ["node", "npx"],
    ["npm", "start"],
    ["./npx", "server"],
    ["uv", "run", "server"],
  ])("%s %s starts in the workspace", (command, ...args) => {
    expect(serverLaunch({ command, args }, WORKSPACE)).toEqual({ directory: WORKSPACE, args });
  });

  test("a package runner starts in the folder that the entry names", () => {
    const start = serverLaunch({ command: "npx", args: ["server", "."], cwd: "sub" }, WORKSPACE);
    expect(start).toEqual({ directory: `${WORKSPACE}/sub`, args: ["server", "."] });
  });

  test("S16: arguments that mean the workspace still do, and no others are changed", () => {
    const changed = { ".": "", "./": "", "..": "..", "./a b": "a b", "../x": "../x", "--from=./x": "x" };
    const kept = ["server", "-y", "@a/b", ".hidden", "...", "/x", "a/./b", "x=./y", "--from=a", ""];
    const { args } = serverLaunch({ command: "npx", args: [...Object.keys(changed), ...kept] }, WORKSPACE);
    expect(args).toEqual([
      WORKSPACE,
      WORKSPACE,
      "/home/anna",
      `${WORKSPACE}/a b`,
      "/home/anna/x",
      `--from=${WORKSPACE}/x`,
      ...kept,
    ]);
  });
});

test("S16: npx takes no program and no settings from the workspace, unless the entry names that folder", async () => {
  const outside = mkdtempSync(join(tmpdir(), "banyan-npx-"));
  const run = { command: "npx", env: { npm_config_cache: join(outside, "cache") }, timeout: 20_000 };
  const planted = { ...run, args: ["--offline", "-y", "planted-server"] };
  const shell = { ...run, args: ["--offline", "-c", "true"] };
  await using opened = new TestServers({}, {});
  const { workspace } = opened;
  const program = (name: string) => {
    const file = join(workspace, "node_modules", ".bin", name);
    writeFileSync(file, `#!/bin/sh\necho ran >> '${join(outside, name)}'\n`, { mode: 0o755 });
    return file;
  };
  mkdirSync(join(workspace, "node_modules", ".bin"), { recursive: true });
  program("planted-server");
  const ran = () => ["planted-server", "planted-shell"].filter((name) => existsSync(join(outside, name)));

  {
    writeFileSync(join(workspace, ".npmrc"), `script-shell=${program("planted-shell")}\n`);
    await using held = await TestServers.settled({ planted, shell }, { workspace });
    expect(held.statuses).toEqual(["planted: failed", "shell: failed"]);
    expect(ran()).toEqual([]);
  }
  {
    await using asked = await TestServers.settled({ shell: { ...shell, cwd: "." } }, { workspace });
    expect(asked.statuses).toEqual(["shell: failed"]);
    expect(ran()).toEqual(["planted-shell"]);
  }
  {
    rmSync(join(workspace, ".npmrc"));
    await using asked = await TestServers.settled({ planted: { ...planted, cwd: "." } }, { workspace });
    expect(asked.statuses).toEqual(["planted: failed"]);
    expect(ran()).toEqual(["planted-server", "planted-shell"]);
  }
  rmSync(outside, { recursive: true });
});

test("S16: a package runner starts outside the workspace in the sandbox too", async ({ skip }) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "banyan-runner-")));
  const root = join(folder, "workspace");
  mkdirSync(join(root, "out"), { recursive: true });
  const opening = await openSandbox({ root });
  if (!opening.available) return skip(opening.reason);
  await using sandbox = opening.sandbox;
  writeFileSync(
    join(folder, "npx"),
    `#!/bin/sh\npwd > '${root}/out/place'\nprintf '%s\\n' "$@" >> '${root}/out/place'\n`,
    {
      mode: 0o755,
    },
  );
  const wrap = (program: ProgramLaunch) => sandbox.wrap(program);
  await using opened = await TestServers.settled(
    { one: { command: join(folder, "npx"), args: ["server", "."] }, two: puppet() },
    { workspace: root, wrap },
  );
  expect(opened.statuses).toEqual(["one: failed", "two: ready"]);
  expect(readFileSync(join(root, "out", "place"), "utf8")).toBe(`/\nserver\n${root}\n`);
});
