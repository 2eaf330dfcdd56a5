import { text } from "node:stream/consumers";
import { beforeEach, expect, test } from "vitest";
import { openWorkspace, shellTool } from "../workspace/index.ts";
import { call, TestFolder } from "../workspace/test-folder.fixture.ts";
import { sandboxOf, startIn, whyNoSandbox } from "./sandbox.fixture.ts";

const reason = await whyNoSandbox();

beforeEach(({ skip }) => {
  if (reason !== undefined) skip(reason);
});

test("S42: a hidden path cannot be opened, changed or replaced, and counts from the next program on", async () => {
  using folder = new TestFolder({ ".env": "secret\n", "keys/a": "secret\n", "keys/b/c": "secret\n", open: "open\n" });
  const hidden: string[] = [];
  await using sandbox = await sandboxOf(folder, { hidden: async () => hidden });
  const tool = shellTool(openWorkspace(folder.root), { sandbox });
  const run = (command: string) => call(tool, { command });
  expect(await run("cat .env")).toBe("secret\n");
  hidden.push(folder.path(".env"), folder.path("keys"));
  expect(await run("cat open; cat .env keys/a keys/b/c 2>/dev/null; echo $?")).toBe("open\n1\n");
  await using server = await startIn(sandbox, folder, "cat .env keys/a 2>&1; ls keys; grep -rs secret .; true");
  expect(await text(server.stdout!)).not.toContain("secret");
  const ways = [
    "cp .env copy; cat copy",
    "ln .env link; cat link",
    "mv .env moved; cat moved",
    "rm -f .env; cat .env",
    "echo evil > .env; rm -rf keys; mkdir keys; echo evil > keys/a",
    "umount .env; cat .env",
    "unshare -Urm sh -c 'umount -l .env; cat .env'",
    "cat /proc/self/root$PWD/.env /proc/1/root$PWD/.env",
    "tar cf - . | strings",
  ];
  for (const way of ways) expect(await run(`${way} 2>&1; true`)).not.toContain("secret");
  expect(folder.read(".env")).toBe("secret\n");
  expect(folder.read("keys/a")).toBe("secret\n");
});

test("S42: a program does not start if the hidden paths are unknown", async () => {
  using folder = new TestFolder({ ".env": "secret\n" });
  await using sandbox = await sandboxOf(folder, { hidden: () => Promise.reject(new Error("Too many files.")) });
  const tool = shellTool(openWorkspace(folder.root), { sandbox });
  await expect(call(tool, { command: "touch made" })).rejects.toThrow("The command did not run: Too many files.");
  expect(folder.names()).not.toContain("made");
});
