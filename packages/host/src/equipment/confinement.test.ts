import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHost } from "../host/open-host.ts";
import { findProgram } from "../programs/find-program.ts";

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
  const sandbox = await (await usual.host.ready()).confinesIn(usual.cwd);
  if (sandbox === undefined) return skip("This machine has no sandbox.");
  expect(sandbox.exceptions).toEqual(["network", "outside"]);
  await using required = await hostWith("require", process.env.PATH ?? "");
  expect((await (await required.host.ready()).confinesIn(required.cwd))?.exceptions).toEqual(["network"]);
});

test("S40: without the program nsenter, the state of the sandbox says that each command has its own network", async ({
  skip,
}) => {
  const programs = mkdtempSync(join(tmpdir(), "banyan-programs-"));
  try {
    for (const name of ["bwrap", "socat", "rg", "mkfifo", "bash", "sh", "cat"])
      symlinkSync(findProgram(name, process.env.PATH ?? "", []) ?? "/missing", join(programs, name));
    await using opened = await hostWith("auto", programs);
    const equipment = await opened.host.ready();
    const sandbox = await equipment.confinesIn(opened.cwd);
    if (sandbox === undefined) return skip("This machine has no sandbox.");
    expect(equipment.sandbox).not.toContain("its own network");
    await sandbox.start();
    expect(equipment.sandbox).toContain("Each command has its own network");
  } finally {
    rmSync(programs, { recursive: true });
  }
});
