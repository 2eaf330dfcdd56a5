import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, launchAgent, type Permission, Session, say } from "@banyan/core";
import { call, collect, finishTask, scriptedModel } from "@banyan/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { redactor } from "../redaction/redactor.ts";
import { type HookEntries, hookEntries } from "./entries.ts";
import { readHookReply } from "./hook-reply.ts";
import { turn } from "./hooks.fixture.ts";
import { Hooks } from "./hooks.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-hooks-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (event: string, command: string, matcher = "", timeout?: number): HookEntries =>
  hookEntries.parse({
    [event]: [{ matcher, hooks: [{ type: "command", command, ...(timeout !== undefined && { timeout }) }] }],
  });

const script = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return `sh ./${name}`;
};

/** Returns true if a process runs. An ended process may still wait for its parent. */
function isLiving(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

describe("C1: a hook", () => {
  test("never allows what a rule forbids, and never answers if a rule demands a user", async () => {
    const allow = `echo '{"hookSpecificOutput":{"permissionDecision":"allow"},"decision":"approve"}'`;
    const both = { ...at("PreToolUse", allow), ...at("PermissionRequest", allow) };
    const denies: Permission = () => ({ decision: "deny", reason: "by a rule" });
    expect((await turn(folder, both, "shell", { command: "echo" }, { permission: denies })).call?.output).toBe(
      "Not allowed: by a rule",
    );
    const asks: Permission = () => ({ decision: "ask", byRule: true });
    expect((await turn(folder, both, "shell", { command: "echo" }, { permission: asks })).call?.status).toBe("denied");
  });

  test("gets the whole input like a second hook of the call, and need not read all of 1 MB", async () => {
    const entries = hookEntries.parse({
      PreToolUse: [
        { matcher: "*", hooks: [{ type: "command", command: "exit 0" }] },
        { matcher: "*", hooks: [{ type: "command", command: "cat > one.json" }] },
        { matcher: "*", hooks: [{ type: "command", command: "cat > two.json" }] },
      ],
    });
    const content = "a line of text\n".repeat(70_000);
    const { problems } = await turn(folder, entries, "write", { path: "a.txt", content });
    expect(problems).toEqual([]);
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe(content);
    const [one, two] = ["one.json", "two.json"].map((file) => readFileSync(join(folder, file), "utf8"));
    expect(one).toBe(two);
    expect(JSON.parse(one ?? "")).toMatchObject({ tool_input: { content } });
  });

  test("of PreToolUse that ends with 2 and prints nothing stops the call", async () => {
    const { call } = await turn(folder, at("PreToolUse", "exit 2"), "shell", { command: "touch ran" });
    expect(call?.status).toBe("denied");
    expect(existsSync(join(folder, "ran"))).toBe(false);
  });

  test.each([
    ["hangs", "sleep 1000 & sleep 1000", "did not end within 0.3 s, and was stopped."],
    ["babbles", "yes | head -c 100000000", "wrote more than 1 MiB, and was stopped."],
    ["is not there", "./nowhere.sh --strict", "could not be run: not found."],
    ["calls a program that is not there", "echo a | ./nowhere.sh", "could not be run: ./nowhere.sh: not found."],
    ["cannot be run", "/etc", "could not be run: Permission denied."],
    ["fails", "echo broken >&2; exit 1", "failed with exit code 1: broken."],
    ["fails without a word", "exit 3", "failed with exit code 3."],
    ["is ended", "kill -9 $$", "was ended by SIGKILL."],
    ["answers nonsense", "echo '{nonsense'", "answered with invalid JSON: "],
  ])("that %s causes one notice, and stops nothing", async (_, command, sentence) => {
    const { call, problems } = await turn(folder, at("PreToolUse", command, "", 0.3), "shell", { command: "echo a" });
    expect(call?.output).toBe("a\n");
    expect(problems).toHaveLength(1);
    // F104: the text names the hook and the reason once.
    expect(problems[0]).toContain(`The PreToolUse hook ${command} ${sentence}`);
    expect(problems[0]?.split(command)).toHaveLength(2);
  });

  describe.skipIf(process.platform !== "linux")("F104: that leaves a process in the background", () => {
    const hooksOf = (entries: HookEntries) =>
      new Hooks({
        entries,
        directory: folder,
        env: process.env,
        redact: redactor({ env: {} }),
        mode: () => "ask",
      });
    const child = () => Number(readFileSync(join(folder, "child.pid"), "utf8"));

    test.each([
      ["which keeps its pipes open", "sleep 1000 & echo $! > child.pid; echo 'It is Friday.'", 1_000],
      ["which closed its pipes", "sleep 1000 >/dev/null 2>&1 & echo $! > child.pid; echo 'It is Friday.'", 0],
    ])("%s has ended when its process has, and the process runs until the program ends", async (_, command, least) => {
      const hooks = hooksOf(at("UserPromptSubmit", command));
      const session = Session.inMemory();
      const from = performance.now();
      const said = await hooks.prompt(session, [{ type: "text", text: "Deploy it." }]);
      const took = performance.now() - from;
      expect(took).toBeGreaterThanOrEqual(least);
      expect(took).toBeLessThan(least + 5_000);
      expect(JSON.stringify(said)).toContain("It is Friday.");
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(isLiving(child())).toBe(true);
      await hooks.close();
      expect(isLiving(child())).toBe(false);
      await session.close();
    });

    test("which keeps writing stays alive, and its later output is ignored", async () => {
      const writer = "(while true; do echo later; sleep 0.05; done) & echo $! > child.pid; echo first";
      const hooks = hooksOf(at("UserPromptSubmit", writer));
      const session = Session.inMemory();
      const said = JSON.stringify(await hooks.prompt(session, [{ type: "text", text: "Deploy it." }]));
      expect(said).toContain("first");
      const laters = said.split("later").length;
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(isLiving(child())).toBe(true);
      expect(laters).toBeLessThan(60);
      await hooks.close();
      expect(isLiving(child())).toBe(false);
      await session.close();
    });
  });

  test("F104: with `async` delays nothing, and ends a second after the program wants to end", async () => {
    const entries = hookEntries.parse({
      UserPromptSubmit: [
        { hooks: [{ type: "command", command: "sleep 0.3; touch done.txt", async: true }] },
        { hooks: [{ type: "command", command: "sleep 1000", async: true }] },
      ],
    });
    const hooks = new Hooks({
      entries,
      directory: folder,
      env: process.env,
      redact: redactor({ env: {} }),
      mode: () => "ask",
    });
    const session = Session.inMemory();
    const from = performance.now();
    await hooks.prompt(session, [{ type: "text", text: "Go." }]);
    await hooks.close();
    expect(performance.now() - from).toBeLessThan(5_000);
    expect(existsSync(join(folder, "done.txt"))).toBe(true);
    await session.close();
  });

  test("F104: at a point without a decision has failed with exit code 2", async () => {
    const { problems } = await turn(folder, at("SubagentStart", "echo no >&2; exit 2"), "shell", { command: "echo a" });
    expect(problems).toEqual([]);
    expect(readHookReply("SessionStart", { code: 2, stdout: "", stderr: "no" }, "./a")).toEqual({
      problem: "failed with exit code 2: no",
    });
  });

  test("F104: of SubagentStop and SessionEnd runs only for names that its matcher fits", async () => {
    const note = (name: string) => ({ type: "command", command: `cat >> ${name}.json` });
    const entries = hookEntries.parse({
      SubagentStop: [
        { matcher: "agent", hooks: [note("own")] },
        { matcher: "reviewer", hooks: [note("other")] },
      ],
      SessionEnd: [
        { matcher: "other", hooks: [note("end")] },
        { matcher: "clear", hooks: [note("clear")] },
      ],
    });
    const hooks = new Hooks({
      entries,
      directory: folder,
      env: process.env,
      redact: redactor({ env: {} }),
      mode: () => "ask",
    });
    const session = Session.inMemory();
    hooks.follow(session);
    const model = scriptedModel([
      [call("launch_agent", { task: "Look.", expected_output: "none" })],
      [finishTask("seen")],
      "Done.",
    ]);
    await collect(new Agent({ model, tools: [launchAgent()] }).chat(say("Go."), { session }));
    await session.close();
    await hooks.close();
    expect(JSON.parse(readFileSync(join(folder, "own.json"), "utf8"))).toMatchObject({ agent_type: "agent" });
    expect(JSON.parse(readFileSync(join(folder, "end.json"), "utf8"))).toMatchObject({ reason: "other" });
    expect(["other.json", "clear.json"].filter((name) => existsSync(join(folder, name)))).toEqual([]);
  });

  test.skipIf(process.platform !== "linux")("that is stopped leaves nothing behind", async () => {
    const command = script("child.sh", "sleep 1000 & echo $! > child.pid; wait\n");
    await turn(folder, at("PreToolUse", command, "", 1), "shell", { command: "echo a" });
    expect(isLiving(Number(readFileSync(join(folder, "child.pid"), "utf8")))).toBe(false);
  });

  test("S34: with `if` runs for calls that the rule covers, and with `async` decides nothing", async () => {
    const guard = (more: object) =>
      hookEntries.parse({
        PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "exit 2", ...more }] }],
      });
    const run = async (more: object, command: string) =>
      (await turn(folder, guard(more), "shell", { command })).call?.status;
    expect(await run({ if: "Bash(echo a*)" }, "true && echo a")).toBe("denied");
    expect(await run({ if: "Bash(echo a*)" }, "echo b")).toBe("completed");
    expect(await run({ async: true }, "echo a")).toBe("completed");
  });

  test("is for the tools that its matcher names whole", async () => {
    const { call } = await turn(folder, at("PreToolUse", "exit 2", "Ba|Edit"), "shell", { command: "echo a" });
    expect(call?.output).toBe("a\n");
    expect(hookEntries.safeParse({ PreToolUse: [{ matcher: "(", hooks: [] }] }).error?.issues[0]?.message).toContain(
      "'(' is neither a regular expression nor a list of names",
    );
  });
});
