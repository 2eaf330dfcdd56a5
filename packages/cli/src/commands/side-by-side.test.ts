import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--plain", "--model", "demo/offline", "--approval", "edits"];

let place: Home;
beforeEach(() => {
  place = home();
  writeFileSync(join(place.workspace, "notes.txt"), "one\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=P", "-c", "user.email=p@localhost", ...args], { cwd: place.workspace });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
});
afterEach(() => place[Symbol.dispose]());

describe.skipIf(!hasTmux)("branches side by side, at a terminal", () => {
  test("C7, C8: /fan asks at once, /compare shows how they stand, /bring takes one over, and /undo takes that back", async () => {
    const made = join(place.workspace, "made.txt");
    using pty = Pty.open(place, MODEL);
    await pty.prompted();
    await pty.exchange("hello", /Banyan asks you before a tool changes anything/);
    await pty.exchange("/compare", "There is only one branch, so there is nothing to compare.");
    await pty.exchange("/bring 7", "There is no branch 7. /branch lists the branches with their numbers.");
    await pty.exchange("/fan", "Write your question after the number or the models: /fan 3");
    await pty.exchange("/fan 12 angry men: who wrote it?", "/fan asks 1 to 8 times at once.");
    await pty.exchange("/fan 2 create made.txt with some words", "demo/offline in the worktree offline-2");
    await pty.until(/Branch 1 \(offline\) is done\.\n(.*\n)*.*\/compare shows the branches side by side/);
    expect(pty.screen().match(/create made\.txt with some words/g)).toHaveLength(1);
    // Lines typed before the last command has run would form one message.
    let times = 0;
    const compared = async () => {
      pty.enter("/compare");
      await pty.until("/branch n continues with a branch", ++times);
      return pty.prompted();
    };
    await expect
      .poll(compared, { timeout: 60_000 })
      .toMatch(/^. 1 +offline +answered +\S+ s +\$0 +1 file \+1 -0\n.*\n.*\n. 2 +offline-2 +answered/m);
    expect(existsSync(made)).toBe(false);
    await pty.exchange("/worktrees", /^ {2}created made\.txt \+1 -0$/);
    await pty.exchange("/bring 2", "created made.txt (+1 -0)");
    expect(readFileSync(made, "utf8")).toBe("some words");
    await pty.prompted();
    await pty.exchange("/undo", "Undone: deleted made.txt");
    expect(existsSync(made)).toBe(false);
    await pty.exchange("/worktree mine", "Your next message works in the worktree mine.");
    await pty.exchange("create mine.txt with words", "Created mine.txt");
    expect(existsSync(join(place.workspace, "mine.txt"))).toBe(false);
    // T65: the user's own commands run there too.
    await pty.exchange("!pwd && ls", /\/mine\nmine\.txt\nnotes\.txt$/);
    // F107: a worktree's branch cannot be brought to itself; the error names the way out.
    await pty.exchange(
      "/bring mine",
      /worktree\s+mine\.\s+Go\s+back\s+to\s+the\s+start\s+of\s+this\s+branch\s+with\s+\/tree\s+#\d+,/,
    );
    await pty.prompted();
    const [, number] =
      /with\s+\/tree\s+#(\d+),\s+then\s+bring\s+the\s+changes\s+over\s+with\s+\/bring\s+mine\./.exec(pty.screen()) ??
      [];
    await pty.exchange(`/tree #${number}`, "Your next message continues from here.");
    await pty.exchange("/bring mine", "created mine.txt (+1 -0)");
    expect(readFileSync(join(place.workspace, "mine.txt"), "utf8")).toBe("words");
    await pty.prompted();
    await pty.exchange(
      "/worktrees remove mine",
      /has 1 changed file\.\s+Bring\s+the\s+changes\s+over\s+first,\s+or\s+remove\s+the\s+worktree\s+together\s+with\s+its\s+changes\./,
    );
    await pty.exchange("/worktrees remove mine with changes", "Removed the worktree mine.");
    await pty.exchange("/worktrees away", "Write /worktrees remove and the name of a worktree");
    pty.press("C-d");
    await pty.until("2 worktrees stay: banyan worktrees lists them.");
  });
});

test.skipIf(!hasTmux)(
  "T65: /fan as the first message leaves the user in the main folder, and the prompt shows the folder of a worktree",
  async () => {
    const made = join(place.workspace, "made.txt");
    using pty = Pty.open(place, MODEL.slice(1));
    await pty.prompted();
    await pty.exchange("/fan 2 create made.txt with some words", "demo/offline in the worktree offline-2");
    await pty.until("/compare shows the branches side by side");
    // The branches at work do not move the user.
    await pty.exchange("!pwd", /\/workspace-\w+$/);
    await pty.exchange("/branch 1", "Your next message continues from here.");
    expect(await pty.until(/worktree offline · git banyan\/offline/)).toMatch(/─ \(offline\) Reply to banyan: ─/);
    const refused = await pty.exchange("/bring 1", /with\s+\/tree\s+#1,/);
    expect(refused).toMatch(/You are on the branch of the worktree\s+offline\./);
    await pty.exchange("/tree #1", "Your next message continues from here.");
    expect(pty.screen()).toMatch(/─ Reply to banyan: ─/);
    await pty.exchange("/compare", "/branch n continues with a branch");
    expect(existsSync(made)).toBe(false);
    pty.enter("/bring 1");
    await expect.poll(() => existsSync(made) && readFileSync(made, "utf8"), { timeout: 30_000 }).toBe("some words");
    await pty.prompted();
    await pty.exchange("/changes", "by banyan (bring_over)");
  },
);

test("C7: banyan worktrees lists the repository's worktrees, also as JSON, and removes an empty worktree, or with all content", async () => {
  const run = (...args: string[]) => banyan(place, ["worktrees", ...args]);
  expect((await run()).stdout).toBe("No branch has its own git worktree. /worktree or /fan creates a worktree.\n");
  const { stdout } = await banyan(place, ["-p", "hello", "--output", "json", "--model", "demo/offline"]);
  const { conversation } = JSON.parse(stdout);
  const { Worktrees, ConversationDirectory, directories } = await import("@banyan/host");
  const env = { ...process.env, ...place.env };
  const { worktrees: folder } = directories(env, place.env.HOME ?? "");
  const made = new Worktrees({ folder, workspace: place.workspace, env });
  {
    await using directory = new ConversationDirectory({ env, home: place.env.HOME ?? "" });
    await using session = await directory.open(conversation);
    await made.open(session, session.state.leaf, ["empty", "full"]);
    writeFileSync(join(await made.folderOf("full", conversation), "notes.txt"), "two\n");
    // A process with the open conversation may be working in the worktree.
    expect(await run("remove", "full", "--changes")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("open"),
    });
  }
  const { stdout: listed } = await run("list");
  expect(listed).toMatch(
    /^empty {2}has no changes\n {2}\S+\/empty\nfull {2}1 changed file\n {2}\S+\/full\n {2}changed notes\.txt \+1 -1\n$/,
  );
  expect(JSON.parse((await run("list", "--output", "json")).stdout)).toMatchObject([
    { name: "empty", files: [] },
    { name: "full", conversation },
  ]);
  expect(await run("remove", "empty")).toMatchObject({ code: 0, stdout: "The worktree empty is removed.\n" });
  expect(await run("remove", "full")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("has 1 changed file"),
  });
  expect(await run("remove", "full", "--changes")).toMatchObject({ code: 0 });
  expect(await run("remove", "full")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("There is no worktree full."),
  });
  expect(await banyan(place, ["worktrees"], { cwd: join(place.workspace, "..") })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is not in a git repository"),
  });
});
