import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openHost } from "../open-host.ts";
import { surroundings } from "./surroundings.ts";

let home: string;
let project: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-surroundings-")));
  project = join(home, "project");
  mkdirSync(project);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const env = { PATH: process.env.PATH };
const WHO = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
const git = (...args: string[]) => execFileSync("git", [...WHO, ...args], { cwd: project, stdio: "pipe" });

function repository(): void {
  git("init", "-q", "-b", "trunk");
  writeFileSync(join(project, "a.txt"), "a\n");
  git("add", ".");
  git("commit", "-qm", "first");
}

const told = (isTrusted = true) => surroundings(project, { env, isTrusted });

describe("C11: what is so when a conversation begins", () => {
  test("is the date, the system with its shell, and how the repository stands", async () => {
    expect((await told()).split("\n")).toEqual([
      expect.stringMatching(/^Date: \w+day,? \d+ \w+ 20\d\d \(.+\)$/),
      expect.stringMatching(/^System: \S+ \S+ \(\w+\); commands run in \/bin\/(ba)?sh$/),
      "Git: the workspace is not in a repository",
    ]);
    repository();
    expect(await told()).toMatch(/\nGit: branch trunk; nothing uncommitted$/);
    writeFileSync(join(project, "a.txt"), "b\n");
    writeFileSync(join(project, "b.txt"), "b\n");
    expect(await told()).toMatch(/\nGit: branch trunk; files: 1 changed, 1 new$/);
    git("checkout", "-q", "--detach");
    expect(await told()).toMatch(/\nGit: no branch \(detached HEAD\); files: 1 changed, 1 new$/);
  });

  test("S5: runs nothing of a project that is not trusted: the branch alone is read", async () => {
    repository();
    git("config", "filter.x.clean", `touch ${join(home, "ran")}; cat`);
    writeFileSync(join(project, ".gitattributes"), "* filter=x\n");
    writeFileSync(join(project, "a.txt"), "b\n");
    expect(await told(false)).toMatch(/\nGit: branch trunk$/);
    expect(() => realpathSync(join(home, "ran"))).toThrow("ENOENT");
    writeFileSync(join(project, ".git", "HEAD"), `ref: refs/heads/${"x\u001b[31m".repeat(100)}\n`);
    expect(await told(false)).toMatch(/\nGit: branch [\x20-\x7e]{100}$/);
  });

  test("is told at the end of the instructions, with the model, the same in every process that goes on with it", async () => {
    const open = () => {
      const own = { ...env, BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
      return openHost({ cwd: project, home, env: own, canAsk: true, trusted: true, readyLater: true });
    };
    repository();
    const host = await open();
    const session = await host.newSession();
    const instructions = host.informed(host.agent, session.state).options.instructions ?? "";
    const [own = "", end = ""] = instructions.split("\n\n# When this conversation began\n\n");
    expect(own).toBe(host.agent.options.instructions);
    expect(end).toMatch(
      /^- Date: .*\n- System: .*\n- Git: branch trunk; nothing uncommitted\n- Model: you are demo\/offline$/,
    );
    // A few lines, of the 12 kB that a request may have beside what is said.
    expect(end.length).toBeLessThan(300);
    expect((await host.contextParts(session.state, null)).map(({ source }) => source)).toContain("surroundings");
    await session.rename("Kept");
    await session.close();
    await host.close();
    writeFileSync(join(project, "later.txt"), "");
    const later = await open();
    const again = await later.openSession("Kept");
    expect(later.informed(later.agent, again.state).options.instructions).toBe(instructions);
    await again.close();
    await later.close();
  });
});
