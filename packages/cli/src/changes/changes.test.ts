import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer, shell, write } from "../testing/model-server.ts";

const MODEL = ["--model", "openai-compatible/test", "--approval", "edits"];

let place: Home;
beforeEach(async () => {
  place = home();
  writeFileSync(join(place.workspace, "old.txt"), "one\ntwo\n");
  await using server = await modelServer(
    {
      calls: [
        { tool: "write", input: { path: "new.txt", content: "fresh\n" } },
        { tool: "edit", input: { path: "old.txt", old_text: "two", new_text: "three" } },
      ],
    },
    { text: "Done." },
  );
  const { code, stderr } = await banyan(place, ["-p", "change things", ...MODEL], server);
  expect({ code, stderr }).toMatchObject({ code: 0 });
});
afterEach(() => place[Symbol.dispose]());

const inWorkspace = (name: string) => join(place.workspace, name);
const run = (...args: readonly string[]) => banyan(place, ["changes", ...args]);

describe("banyan changes", () => {
  test("lists the files that the last conversation of the directory changed, with the lines that came and went", async () => {
    const { code, stdout } = await run();
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^2 files changed by “change things”:\n {2}created +\+1 +-0 +new\.txt\n {2}changed +\+1 +-1 +old\.txt\n$/,
    );
  });

  test("show prints the diff of one file or of all files", async () => {
    const { stdout } = await run("show", "old.txt");
    expect(stdout).toContain("-two\n+three\n");
    expect(stdout).not.toContain("fresh");
    expect((await run("show")).stdout).toContain("+fresh");
    expect(await run("show", "gone.txt")).toMatchObject({
      code: 2,
      stderr: "banyan: gone.txt was not changed. Changed files: new.txt, old.txt.\n",
    });
  });

  test("does not offer a file that a command removed", async () => {
    writeFileSync(inWorkspace("gone.txt"), "words\n");
    await using server = await modelServer(shell("rm gone.txt"), { text: "Done." });
    const allowed = [...MODEL, "--allow", "shell(rm *)"];
    expect(await banyan(place, ["-p", "remove it", "--continue", ...allowed], server)).toMatchObject({ code: 0 });
    expect(existsSync(inWorkspace("gone.txt"))).toBe(false);
    expect((await run()).stdout).not.toContain("gone.txt");
    expect(await run("revert", "gone.txt", "--yes")).toMatchObject({ code: 2 });
  });

  test("revert puts one file back, byte for byte, and writes that down; --all the others; the model is told", async () => {
    expect(await run("revert", "old.txt", "--yes")).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(inWorkspace("old.txt"), "utf8")).toBe("one\ntwo\n");
    expect((await run()).stdout).toMatch(/^1 file changed by “change things”:\n {2}created +\+1 +-0 +new\.txt\n$/);
    expect(await run("revert", "--all", "--yes")).toMatchObject({ code: 0 });
    expect(existsSync(inWorkspace("new.txt"))).toBe(false);
    expect((await run()).stdout).toBe(
      "There are no changed files by “change things”: nothing was changed, or all changes were undone.\n",
    );
    await using server = await modelServer({ text: "I see." });
    expect(await banyan(place, ["-p", "go on", "--continue", ...MODEL], server)).toMatchObject({ code: 0 });
    const asked = JSON.stringify(server.asked[0]);
    expect(asked).toContain("- old.txt has its previous content again");
    expect(asked).toContain("- new.txt is not there any more");
  });

  test("revert leaves a file alone that something else has changed since, and puts the others back", async () => {
    writeFileSync(inWorkspace("old.txt"), "mine\n");
    const { code, stderr } = await run("revert", "--all", "--yes");
    expect(code).toBe(1);
    expect(stderr).toContain("banyan: old.txt was changed again afterwards");
    expect(readFileSync(inWorkspace("old.txt"), "utf8")).toBe("mine\n");
    expect(existsSync(inWorkspace("new.txt"))).toBe(false);
  });

  test("revert asks first: where nobody can be asked, it wants --yes, and changes nothing", async () => {
    const { code, stderr } = await run("revert", "new.txt");
    expect(code).toBe(2);
    expect(stderr).toMatch(/^banyan: This would restore new\.txt in .*\. Without a terminal, confirm with --yes\.\n$/);
    expect(existsSync(inWorkspace("new.txt"))).toBe(true);
    expect(await run("revert")).toMatchObject({
      code: 2,
      stderr: "banyan: Name the files to restore, or use --all.\n",
    });
  });

  test("--branch counts only what the branch of a message has changed", async () => {
    await using server = await modelServer(write("other.txt", "x\n"), { text: "Done too." });
    await banyan(place, ["--continue", "--at", "#3", "-p", "and another", ...MODEL], server);
    expect((await run("--branch", "#3")).stdout).toContain("other.txt");
    expect(await run("--branch", "#99")).toMatchObject({ code: 2 });
  });
});
