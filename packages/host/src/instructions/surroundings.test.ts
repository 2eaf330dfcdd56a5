import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
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

const told = () => surroundings(project, env);

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

  test("S5: runs nothing that a repository names, whoever made it", async () => {
    repository();
    const ran = (name: string) => `touch ${join(home, `ran-${name}`)}; cat`;
    git("config", "filter.x.y.clean", ran("filter"));
    git("config", "filter.z.process", ran("process"));
    git("config", "filter.z.required", "true");
    git("config", "core.fsmonitor", ran("monitor"));
    writeFileSync(join(project, ".gitattributes"), "a.txt filter=x.y\n*.z filter=z\n");
    for (const name of ["a.txt", "b.z"]) writeFileSync(join(project, name), "c\n");
    expect(await told()).toMatch(/\nGit: branch trunk; files: 1 changed, 2 new$/);
    expect(readdirSync(home)).toEqual(["project"]);
    // Where git obeys it, it would have.
    git("-c", "core.fsmonitor=false", "status");
    expect(readdirSync(home)).toContain("ran-filter");
  });

  test("a name that somebody gave a branch is one short line", async () => {
    git("init", "-q", "-b", `x${"\u00a0\u202e".repeat(60)}`);
    expect(await told()).toMatch(/\nGit: branch .{1,100}; nothing uncommitted$/);
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
