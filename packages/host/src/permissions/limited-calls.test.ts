import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Permit, type PermitRequest, type Session, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { type HostFlags, openHost } from "../host/open-host.ts";
import { LIMITED, LimitedCalls } from "./limited-calls.ts";

/** A trusted project with a repository, in which approval mode `sandbox` is on. Undefined if the mode is not available. */
async function projectWith(flags: HostFlags = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-limited-")));
  const [home, cwd] = [join(root, "home"), join(root, "home/project")];
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "a.txt"), "old\n");
  const git = ["-c", "user.name=a", "-c", "user.email=a@b"];
  for (const args of [
    ["init", "-qb", "main"],
    ["add", "."],
    [...git, "commit", "-qm", "first"],
  ])
    execFileSync("git", args, { cwd });
  const env = { BANYAN_HOME: join(root, "own"), BANYAN_NO_DISCOVERY: "1", PATH: process.env.PATH ?? "", HOME: home };
  const notices: string[] = [];
  const host = await openHost({
    cwd,
    home,
    env,
    flags: { model: "demo/offline", ...flags },
    canAsk: true,
    trusted: true,
  });
  host.modes.watch((why) => {
    if (why !== undefined) notices.push(why);
  });
  const reason = await host.useApproval("sandbox").then(
    () => undefined,
    (error: Error) => error.message,
  );
  return {
    cwd,
    host,
    notices,
    reason,
    head: () => readFileSync(join(cwd, ".git/refs/heads/main"), "utf8"),
    async [Symbol.asyncDispose]() {
      await host.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

type Project = Awaited<ReturnType<typeof projectWith>>;

/** Makes calls one after the other. Allows each question, and returns the commands that were asked about. */
async function make({ host }: Project, session: Session, ...calls: readonly (readonly [string, object])[]) {
  const asked: unknown[] = [];
  const model = scriptedModel([...calls.map(([tool, input]) => [call(tool, input as never)]), "Done."]);
  for await (const item of host.agent.with({ model, onTurn: undefined }).chat(say("Go on."), { session })) {
    if (item.type !== "call.approval-requested") continue;
    asked.push(item.input);
    await session.answer(item.question, { decision: "allow" });
  }
  return asked;
}

const shell = (command: string) => ["shell", { command }] as const;
const commit = shell("git -c user.name=a -c user.email=a@b commit -qam second");

test("S37: mode sandbox runs edits and commands without a question, and asks before a change of the repository", async ({
  skip,
}) => {
  await using project = await projectWith({ deny: ["shell(rm:*)"] });
  if (project.reason !== undefined) return skip(project.reason);
  const { cwd, host, head } = project;
  await using session = await host.newSession();
  const first = head();
  const asked = await make(
    project,
    session,
    shell("echo new > a.txt; echo evil > .git/refs/heads/main; echo evil > .git/hooks/pre-commit"),
    ["write", { path: "b.txt", content: "written\n" }],
    shell("rm -f a.txt"),
    shell('sh -c "echo evil > ../outside"'),
  );
  expect(asked).toEqual([]);
  expect([readFileSync(join(cwd, "a.txt"), "utf8"), readFileSync(join(cwd, "b.txt"), "utf8")]).toEqual([
    "new\n",
    "written\n",
  ]);
  expect(head()).toBe(first);
  expect(readdirSync(join(cwd, ".."))).not.toContain("outside");
  // The user allows the commit, which then runs as in the other modes.
  expect(await make(project, session, commit)).toEqual([commit[1]]);
  expect(head()).not.toBe(first);
});

test("S37: after a loss of the sandbox, the mode is ask, with the reason, and calls need an answer", async ({
  skip,
}) => {
  await using project = await projectWith();
  if (project.reason !== undefined) return skip(project.reason);
  const { host, notices } = project;
  await using session = await host.newSession();
  expect(await make(project, session, shell("echo 1 > a.txt"))).toEqual([]);
  killSandboxes();
  await expect.poll(() => host.approval).toBe("ask");
  expect(notices.join("\n")).toMatch(/process of the sandbox has ended \(SIGKILL\)/);
  expect(await make(project, session, shell("echo 2 > a.txt"))).toEqual([{ command: "echo 2 > a.txt" }]);
  await expect(host.useApproval("sandbox")).rejects.toThrow("the sandbox has ended");
});

test("S37: if no snapshot can be made, the call does not run, and the next one asks", async ({ skip }) => {
  await using project = await projectWith();
  if (project.reason !== undefined) return skip(project.reason);
  const { cwd, host, notices } = project;
  await using session = await host.newSession();
  const stores = join(host.places.data, "snapshots");
  rmSync(stores, { recursive: true, force: true });
  writeFileSync(stores, "no folder\n");
  const command = "echo new > a.txt";
  expect(await make(project, session, shell(command))).toEqual([]);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("old\n");
  expect([host.approval, notices.length]).toEqual(["ask", 1]);
  expect(await make(project, session, shell(command))).toEqual([{ command }]);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("new\n");
});

test("S37: the mode answers no open question, because a user's answer allows a command without limits", async () => {
  const limited = new LimitedCalls();
  const call = (status: string, approved?: boolean) => ({
    conversation: {
      id: "talk",
      calls: new Map([["c", "m"]]),
      messages: new Map([["m", { role: "assistant", calls: [{ id: "c", status, approved }] }]]),
    },
    call: "c",
  });
  const judge = async (permit: Permit, request: object) => limited.watching(() => permit)(request as PermitRequest);
  const isLimited = (request: object) => limited.isLimited(request as PermitRequest);
  expect(await judge(LIMITED, call("approval-requested"))).toEqual({ decision: "ask" });
  expect(isLimited(call("pending"))).toBe(false);
  expect(await judge(LIMITED, call("pending"))).toBe(LIMITED);
  expect([isLimited(call("executing")), isLimited(call("executing", true))]).toEqual([true, false]);
  await judge({ decision: "allow" }, { ...call("completed"), done: true });
  expect(isLimited(call("executing"))).toBe(true);
  await judge({ decision: "allow" }, call("pending"));
  expect(isLimited(call("executing"))).toBe(false);
});

/** Kills the sandbox processes of this process. */
function killSandboxes(): void {
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1];
      const line = readFileSync(`/proc/${id}/cmdline`, "utf8");
      if (parent === String(process.pid) && line.includes("sandbox-process")) process.kill(Number(id), "SIGKILL");
    } catch {
      // The process has ended.
    }
  }
}
