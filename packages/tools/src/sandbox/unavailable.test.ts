import { chmodSync, mkdirSync } from "node:fs";
import { delimiter } from "node:path";
import { expect, test } from "vitest";
import { TestFolder } from "../workspace/test-folder.fixture.ts";
import { openSandbox } from "./index.ts";

/** Returns a `PATH` with the programs of a sandbox, and this script as bubblewrap. */
function pathWith(folder: TestFolder, bwrap: string): string {
  for (const name of ["socat", "rg"]) folder.add(name, "#!/bin/sh\nexit 1\n");
  folder.add("bwrap", `#!/bin/sh\n${bwrap}\n`);
  for (const name of ["bwrap", "socat", "rg"]) chmodSync(folder.path(name), 0o755);
  return [folder.root, process.env.PATH].join(delimiter);
}

test("S9: the error names what a sandbox needs", async () => {
  using folder = new TestFolder();
  expect(await openSandbox({ root: folder.root, env: { PATH: "/nowhere" } })).toEqual({
    available: false,
    reason: "Commands cannot run in a sandbox: install bubblewrap, socat, ripgrep and mkfifo, which the sandbox needs.",
  });
});

test("S9: the error says that a sandbox cannot be in the home folder", async () => {
  using folder = new TestFolder();
  mkdirSync(folder.path("me"));
  for (const root of [folder.path("me"), folder.root])
    expect(await openSandbox({ root, home: folder.path("me") })).toMatchObject({
      available: false,
      reason: expect.stringMatching(/contains your home folder/),
    });
});

test.skipIf(process.platform !== "linux").each([
  [
    "the system does not let it be made",
    "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
    /No permissions/,
  ],
  [
    "what it is made of does not hold",
    'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
    /it could write outside|failed in it/,
  ],
])("S9: a trial of the sandbox reports that %s", async (_, bwrap, reason) => {
  using folder = new TestFolder();
  using programs = new TestFolder();
  const env = { ...process.env, PATH: pathWith(programs, bwrap) };
  expect(await openSandbox({ root: folder.root, env })).toMatchObject({
    available: false,
    reason: expect.stringMatching(reason),
  });
});

test("a place that is not there is refused", async () => {
  using folder = new TestFolder();
  await expect(openSandbox({ root: folder.path("none") })).rejects.toThrow(
    /The sandbox cannot write to .*none, which does not exist/,
  );
  await expect(openSandbox({ root: folder.root, writable: ["none"] })).rejects.toMatchObject({
    code: "policy",
    message: "The sandbox cannot write to none, which does not exist. Name an existing folder.",
  });
});
