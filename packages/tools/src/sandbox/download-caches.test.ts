import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { TestFolder } from "../workspace/test-folder.fixture.ts";
import { sandboxOf, whyNoSandbox } from "./sandbox.fixture.ts";

const reason = await whyNoSandbox();

test("S37: a program with limits keeps its downloads for the next one, outside the home folder", async ({ skip }) => {
  if (reason !== undefined) skip(reason);
  using folder = new TestFolder({});
  await using sandbox = await sandboxOf(folder);
  const run = async (command: string, readOnly: readonly string[] | undefined) => {
    const environment = { PATH: process.env.PATH ?? "", GOFLAGS: "-mod=mod" };
    using program = await sandbox.wrap({ file: "/bin/sh", args: ["-c", command], environment }, { readOnly });
    const { file, args, environment: env } = program;
    return spawnSync(file, args, { cwd: folder.root, env, encoding: "utf8" }).stdout;
  };
  const caches = '"$npm_config_cache" "$CARGO_HOME/registry" "$GOMODCACHE"';
  expect(
    await run(`mkdir -p ${caches} && for each in ${caches}; do echo kept > "$each/file"; done; echo $GOFLAGS`, []),
  ).toBe("-mod=mod -modcacherw\n");
  expect(await run(`for each in ${caches}; do cat "$each/file"; done`, [])).toBe("kept\nkept\nkept\n");
  expect(await run('echo "$npm_config_cache$CARGO_HOME$GOMODCACHE"', undefined)).toBe("\n");
});
