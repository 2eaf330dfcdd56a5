import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHost } from "../host/open-host.ts";

/** A host with the sandbox of these settings, in a new home folder. */
async function hostWith(enabled: "auto" | "require", path: string) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-confinement-")));
  const cwd = join(home, "project");
  mkdirSync(cwd);
  mkdirSync(join(home, "own/config"), { recursive: true });
  writeFileSync(join(home, "own/config/settings.json"), JSON.stringify({ sandbox: { enabled } }));
  const env = { BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1", PATH: path };
  const host = await openHost({ cwd, home, env, flags: { model: "demo/offline" }, canAsk: true });
  return {
    cwd,
    host,
    async [Symbol.asyncDispose]() {
      await host.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

test("S40: a required sandbox never offers to run a command outside", async ({ skip }) => {
  await using usual = await hostWith("auto", process.env.PATH ?? "");
  const equipment = await usual.host.ready();
  const sandbox = await equipment.confinesIn(usual.cwd);
  if (sandbox === undefined) return skip("This machine has no sandbox.");
  expect(sandbox.exceptions).toEqual(["network", "outside"]);
  expect(equipment.sandbox).not.toContain("its own network");
  await using required = await hostWith("require", process.env.PATH ?? "");
  expect((await (await required.host.ready()).confinesIn(required.cwd))?.exceptions).toEqual(["network"]);
});

test("S40: without the program nsenter, the state of the sandbox says that each command has its own network", async ({
  skip,
}) => {
  const programs = mkdtempSync(join(tmpdir(), "banyan-programs-"));
  try {
    for (const name of readdirSync("/usr/bin"))
      if (name !== "nsenter") symlinkSync(`/usr/bin/${name}`, join(programs, name));
    await using opened = await hostWith("auto", programs);
    const equipment = await opened.host.ready();
    const sandbox = await equipment.confinesIn(opened.cwd);
    if (sandbox === undefined) return skip("This machine has no sandbox.");
    await sandbox.start();
    expect(equipment.sandbox).toContain("Each command has its own network");
  } finally {
    rmSync(programs, { recursive: true });
  }
});
