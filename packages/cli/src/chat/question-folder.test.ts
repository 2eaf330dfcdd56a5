import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, home } from "../testing/banyan.ts";
import { links } from "../testing/links.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux } from "../testing/pty.ts";

let place: Home;
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=P", "-c", "user.email=p@example.com", ...args], {
    cwd: place.workspace,
    encoding: "utf8",
  });
beforeEach(() => {
  place = home();
  mkdirSync(join(place.workspace, "sub"));
  writeFileSync(join(place.workspace, "sub/notes.txt"), "one\n");
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
});
afterEach(() => place[Symbol.dispose]());

const looks = links.flatMap(({ link, open }) => ["full", "plain"].map((look) => ({ look, link, open })));

describe.skipIf(!hasTmux).each(looks)("the folder of a question ($look, $link)", ({ look, open }) => {
  test("S31: is the one in which the command starts: in the workspace, after cd, and on a branch with a worktree", async () => {
    const tell = (name: string) => shell(`pwd > ${name}.txt; cd sub`);
    const done = { text: "Done." };
    await using server = await modelServer(tell("one"), tell("two"), done, tell("three"), tell("four"), done);
    const flags = ["--model", "openai-compatible/test", ...(look === "plain" ? ["--plain"] : [])];
    using pty = await open(place, flags, server.env);
    const folders: string[] = [];
    const allow = async (name: string) => {
      // The folder may be wrapped, and have a frame.
      const question = new RegExp(`asks to run shell in\\s([^>]*?)pwd > ${name}\\.txt[\\s\\S]*^Allow this\\?$`, "m");
      const [, folder = ""] = question.exec(await pty.until(question)) ?? [];
      folders.push(folder.replaceAll(/[─\s]/g, ""));
      if (look === "plain") pty.enter("y");
      else pty.press("y", "Enter");
    };
    await pty.prompted();
    pty.enter("go");
    await allow("one");
    await allow("two");
    await pty.until("Done.");
    await pty.prompted();
    await pty.exchange("/worktree mine", "Your next message works in the worktree mine.");
    pty.enter("go there");
    await allow("three");
    await allow("four");
    await pty.until("Done.", 2);
    const [, mine = ""] = /^worktree (.*\/mine)$/m.exec(git("worktree", "list", "--porcelain")) ?? [];
    const ran = (folder: string, name: string) => readFileSync(join(folder, `${name}.txt`), "utf8").trim();
    expect(folders).toEqual([
      ...["one", "two"].map((name) => ran(place.workspace, name)),
      ...["three", "four"].map((name) => ran(mine, name)),
    ]);
    expect(folders).toEqual([place.workspace, place.workspace, mine, mine]);
  });
});
