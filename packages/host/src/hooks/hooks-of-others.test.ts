import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, type Permission, Session, say } from "@banyan/core";
import { call, collect, fail, finishTask, scriptedModel, spend, text } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { turnsOn } from "../checks/turns.ts";
import { redactor } from "../redaction/redactor.ts";
import { type HookEntries, hookEntries } from "./entries.ts";
import { turn } from "./hooks.fixture.ts";
import { Hooks } from "./hooks.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-hooks-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ASK: Permission = () => ({ decision: "ask" });

const at = (event: string, command: string, matcher = "", timeout?: number): HookEntries =>
  hookEntries.parse({
    [event]: [{ matcher, hooks: [{ type: "command", command, ...(timeout !== undefined && { timeout }) }] }],
  });

const script = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return `sh ./${name}`;
};

/** A conversation of three turns that a user compacts with instructions. Returns the outcome. */
async function compacted(entries: HookEntries, keep?: string) {
  const hooks = new Hooks({
    entries,
    directory: folder,
    env: process.env,
    redact: redactor({ env: { KEY: "zw8/qr+9=Lm4x" } }),
    mode: () => "ask",
  });
  const session = Session.inMemory();
  hooks.follow(session);
  const model = scriptedModel(["One.", "Two.", "Three.", "Sum."]);
  const agent = new Agent({ model, hooks: hooks.calls });
  for (const said of ["One?", "Two?", "Three?"]) await agent.send(said, { session });
  const problem = await agent.compact({ session, keep });
  await session.close();
  await hooks.close();
  const request = JSON.stringify(model.requests.at(-1)?.messages.at(-1));
  return { problem, request };
}

describe("F96: a PreCompact hook", () => {
  const told = () => JSON.parse(readFileSync(join(folder, "told.json"), "utf8"));

  test("gets the trigger and the user's words, and adds its output without secrets", async () => {
    const words = script("words.sh", 'cat > told.json; echo "Keep zw8/qr+9=Lm4x and all prices."\n');
    const { problem, request } = await compacted(at("PreCompact", words, "manual"), "the colours");
    expect(problem).toBeUndefined();
    expect(told()).toMatchObject({
      hook_event_name: "PreCompact",
      trigger: "manual",
      custom_instructions: "the colours",
      cwd: folder,
    });
    expect(request).toContain(':\\nKeep [redacted:KEY] and all prices.\\n\\nthe colours"');
  });

  test("F104: a SessionStart hook for `compact` adds to the next message", async () => {
    const hooks = new Hooks({
      entries: at("SessionStart", "echo Use Bun.", "compact"),
      directory: folder,
      env: process.env,
      redact: redactor({ env: {} }),
      mode: () => "ask" as const,
    });
    const session = Session.inMemory();
    hooks.follow(session);
    const said = async () => JSON.stringify(await hooks.prompt(session, [{ type: "text", text: "Go on." }]));
    const agent = new Agent({ model: scriptedModel(["One.", "Two.", "Three.", "Sum."]), hooks: hooks.calls });
    for (const text of ["One?", "Two?", "Three?"]) await agent.send(text, { session });
    expect(await said()).not.toContain("Use Bun.");
    await agent.compact({ session });
    expect(await said()).toContain("Use Bun.");
    expect(await said()).not.toContain("Use Bun.");
    await session.close();
    await hooks.close();
  });

  test("does not run for other triggers, and a JSON answer adds its context", async () => {
    const json = `echo '${JSON.stringify({ hookSpecificOutput: { additionalContext: "Keep the names." } })}'`;
    expect((await compacted(at("PreCompact", json))).request).toContain(':\\nKeep the names."');
    expect((await compacted(at("PreCompact", json, "auto"))).request).not.toContain("Keep the names.");
  });

  test.each([
    ["exit code 2", "echo 'not now' >&2; exit 2"],
    ["a decision", `echo '{"decision":"block","reason":"not now"}'`],
  ])("blocks a summary that a user asks for, by %s, with the reason", async (_, command) => {
    expect((await compacted(at("PreCompact", command))).problem).toBe("A hook blocked the summary: not now");
  });

  test("cannot block a summary that the context needs, and a notice says so", async () => {
    const entries = at("PreCompact", "cat > told.json; echo 'not now' >&2; exit 2");
    const hooks = new Hooks({
      entries,
      directory: folder,
      env: process.env,
      redact: redactor({ env: {} }),
      mode: () => "ask",
    });
    const session = Session.inMemory();
    hooks.follow(session);
    const problems: string[] = [];
    session.listen({
      items: (items) => {
        for (const item of items) if (item.type === "callback.failed") problems.push(item.reason);
      },
      ended() {},
    });
    const full = [text("Because ".padEnd(24_000, "it is warm, ")), spend({ input: 6_500, output: 60 })];
    const model = scriptedModel(["One.", "Two.", full, "They like it warm. ".repeat(16), "So."]);
    const agent = new Agent({ model, hooks: hooks.calls, compaction: { contextSize: 8_000 } });
    for (const said of ["One?", "Two?", "Why?", "So?"]) await agent.send(said, { session });
    await session.close();
    await hooks.close();
    expect(told()).toMatchObject({ trigger: "auto", custom_instructions: "" });
    expect([...session.state.messages.values()].filter(({ role }) => role === "summary")).toHaveLength(1);
    expect(problems).toEqual([
      "A hook tried to block a summary. The context needs the summary, so Banyan ignored the hook. not now",
    ]);
  });

  test("PostCompact gets the same trigger", async () => {
    await compacted(at("PostCompact", "cat > told.json", "manual"));
    expect(told()).toMatchObject({ hook_event_name: "PostCompact", trigger: "manual" });
  });
});

describe("C1: a hook for Claude Code or codex runs unchanged", () => {
  test("a hook that reads the command from its input denies by exit code 2, with the reason on standard error", async () => {
    const guard = script("guard.sh", 'grep -q "rm -rf" && { echo "no deleting here" >&2; exit 2; }; exit 0\n');
    const { call } = await turn(folder, at("PreToolUse", guard, "Bash"), "shell", { command: "rm -rf build" });
    expect(call).toMatchObject({ status: "denied", output: "Not allowed: no deleting here" });
    const harmless = await turn(folder, at("PreToolUse", guard, "Bash"), "shell", { command: "echo fine" });
    expect(harmless.call).toMatchObject({ status: "completed", output: "fine\n" });
  });

  test("a hook denies, asks or allows by JSON in the current and old form", async () => {
    const says = (specific: object) =>
      `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", ...specific } })}'`;
    const deny = says({ permissionDecision: "deny", permissionDecisionReason: "not today" });
    expect((await turn(folder, at("PreToolUse", deny), "shell", { command: "echo" })).call?.output).toBe(
      "Not allowed: not today",
    );
    const block = `echo '{"decision":"block","reason":"of before"}'`;
    expect((await turn(folder, at("PreToolUse", block), "shell", { command: "echo" })).call?.output).toBe(
      "Not allowed: of before",
    );
    const ask = says({ permissionDecision: "ask" });
    // No user can be asked here, so a question becomes a denial.
    expect((await turn(folder, at("PreToolUse", ask), "shell", { command: "echo" })).call?.status).toBe("denied");
    const allow = says({ permissionDecision: "allow" });
    expect(
      (await turn(folder, at("PreToolUse", allow), "shell", { command: "echo a" }, { permission: ASK })).call?.output,
    ).toBe("a\n");
  });

  test("a hook's changed arguments are judged, and run", async () => {
    const change = `echo '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"echo changed"}}}'`;
    const seen: unknown[] = [];
    const permission: Permission = ({ input }) => {
      seen.push(input);
      return { decision: "allow" };
    };
    const { call } = await turn(
      folder,
      at("PreToolUse", change, "Bash"),
      "shell",
      { command: "echo given" },
      { permission },
    );
    expect(seen).toEqual([{ command: "echo changed" }]);
    expect(call?.output).toBe("changed\n");
  });

  test("a hook gets file_path, content and session_id, and speaks to the model after the write", async () => {
    const format = script("format.sh", 'cat > told.json; echo "not formatted: run the formatter" >&2; exit 2\n');
    const { call, session } = await turn(folder, at("PostToolUse", format, "Edit|Write"), "write", {
      path: "a.txt",
      content: "x\n",
    });
    expect(call?.status).toBe("completed");
    expect(call?.output).toMatch(/^Created a\.txt [\s\S]*\n\nnot formatted: run the formatter$/);
    expect(JSON.parse(readFileSync(join(folder, "told.json"), "utf8"))).toMatchObject({
      session_id: session.id,
      cwd: folder,
      hook_event_name: "PostToolUse",
      tool_name: "Write",
      tool_use_id: "a call",
      tool_input: { file_path: join(folder, "a.txt"), content: "x\n", path: "a.txt" },
      tool_response: { status: "completed" },
    });
  });

  test("a PermissionRequest hook answers for the user", async () => {
    const allow = `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'`;
    const { call } = await turn(
      folder,
      at("PermissionRequest", allow),
      "shell",
      { command: "echo a" },
      { permission: ASK },
    );
    expect(call?.output).toBe("a\n");
  });

  test("a Stop hook continues the agent with its reason, and learns that it did so before", async () => {
    const stop = script(
      "stop.sh",
      'grep -q "stop_hook_active\\":true" || { echo "run the tests first" >&2; exit 2; }\n',
    );
    const { requests } = await turn(
      folder,
      at("Stop", stop),
      "shell",
      { command: "echo" },
      { answers: ["Done.", "Tested."] },
    );
    expect(requests).toHaveLength(3);
    expect(JSON.stringify(requests[2])).toContain("run the tests first");
  });

  test("F100: a Stop hook continues an agent that finished its task, and an evaluation counts both turns once", async () => {
    const entries = at("Stop", 'grep -q "stop_hook_active\\":true" || { echo test first >&2; exit 2; }');
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
      [spend({ input: 10 }), finishTask("one")],
      [spend({ input: 20 }), finishTask("two")],
    ]);
    const agent = new Agent({ model, mode: "task", onTurn: hooks.onTurn });
    await session.add("Mend it.", { at: null, id: "root" });
    const { signal } = new AbortController();
    const taken = await turnsOn({ session, agent, root: "root", signal });
    await session.close();
    await hooks.close();
    expect(taken).toMatchObject({ isWhole: true, steps: 2, spent: { usage: { input: 30 } }, last: { result: "two" } });
  });

  test("a UserPromptSubmit hook adds to the message, or blocks it", async () => {
    const session = Session.inMemory();
    const prompt = (entries: HookEntries) =>
      new Hooks({
        entries,
        directory: folder,
        env: process.env,
        redact: redactor({ env: {} }),
        mode: () => "ask",
      }).prompt(session, [{ type: "text", text: "Deploy it." }]);
    expect(JSON.stringify(await prompt(at("UserPromptSubmit", "echo It is Friday.")))).toContain("It is Friday.");
    await expect(
      prompt(at("UserPromptSubmit", "grep -q Deploy && { echo not on Fridays >&2; exit 2; }")),
    ).rejects.toThrow("Blocked by a hook: not on Fridays");
    await session.close();
  });
});

describe("C2: a hook of Notification", () => {
  test.each([
    ["permission_prompt", "shell", ASK, "The agent asks to run shell."],
    ["idle_prompt", "fails", undefined, "The agent failed: "],
  ] as const)("hears once of %s", async (type, tool, permission, sentence) => {
    const notice = script("notice.sh", "cat >> told.json; echo >> told.json\n");
    const entries = at("Notification", notice, "permission_prompt|idle_prompt");
    const answers = tool === "fails" ? [[fail("invalid-request", { status: 400 })]] : ["Done."];
    const hooks = new Hooks({
      entries,
      directory: folder,
      env: process.env,
      redact: redactor({ env: {} }),
      mode: () => "ask",
    });
    const session = Session.inMemory();
    hooks.follow(session);
    const first = tool === "fails" ? [] : [[call(tool, { command: "echo" }, "a call")]];
    const model = scriptedModel([...first, ...answers] as never);
    const agent = new Agent({ model, tools: workspaceTools({ root: folder }), ...(permission && { permission }) });
    const chat = collect(agent.chat(say("Go."), { session })).catch(() => {});
    if (permission) {
      await expect.poll(() => session.state.questions.size).toBe(1);
      await session.answer([...session.state.questions.keys()][0] as string, { decision: "allow" });
    }
    await chat;
    await session.close();
    await hooks.close();
    const told = readFileSync(join(folder, "told.json"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ notification_type: type, message: expect.stringContaining(sentence) });
  });
});
