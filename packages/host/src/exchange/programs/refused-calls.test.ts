import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shownStatus } from "@banyan/client/words";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conversationOf, type PastSession, readSession, sessionsIn, toJson } from "../index.ts";
import { REDACT, stateOf, writeDatabase } from "./programs.fixture.ts";

const FIXTURES = join(import.meta.dirname, "fixtures");

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-programs-"));
  cpSync(FIXTURES, folder, { recursive: true });
  writeDatabase(join(folder, "opencode", "opencode.db"), join(FIXTURES, "opencode", "rows.json"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("S36: calls of other programs that did not run", () => {
  const call = { id: "toolu_1", name: "Bash", input: { command: "touch ran" } };
  const pi = { type: "toolResult", toolCallId: "toolu_1", toolName: "bash", isError: true };
  const text = (said: string) => [{ type: "text", text: said }];
  const lines: Readonly<Record<string, (said: string) => readonly object[]>> = {
    "Claude Code": (said) => [
      { type: "user", uuid: "a", parentUuid: null, sessionId: "s", cwd: "/", message: { role: "user", content: "go" } },
      {
        type: "assistant",
        uuid: "b",
        parentUuid: "a",
        sessionId: "s",
        message: { id: "m", role: "assistant", model: "claude", content: [{ type: "tool_use", ...call }] },
      },
      {
        type: "user",
        uuid: "c",
        parentUuid: "b",
        sessionId: "s",
        message: {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "toolu_1", is_error: true, content: said }],
        },
      },
    ],
    pi: (said) => [
      { type: "session", id: "s", version: 3, cwd: "/", timestamp: "2026-01-01T00:00:00.000Z" },
      { type: "message", id: "a", parentId: null, message: { role: "user", content: text("go") } },
      {
        type: "message",
        id: "b",
        parentId: "a",
        message: {
          role: "assistant",
          provider: "x",
          model: "y",
          stopReason: "toolUse",
          content: [{ type: "toolCall", id: "toolu_1", name: "bash", arguments: call.input }],
        },
      },
      { type: "message", id: "c", parentId: "b", message: { ...pi, role: "toolResult", content: text(said) } },
    ],
  };

  test.each([
    ["Claude Code", "<tool_use_error>InputValidationError: Bash failed</tool_use_error>", "not-run"],
    ["Claude Code", "Permission to use Bash with command touch ran has been denied.", "not-run"],
    ["Claude Code", "Exit code 1\nPermission to use it", "failed"],
    ["pi", 'Validation failed for tool "bash":', "not-run"],
    ["pi", "Tool bash not found", "not-run"],
    ["pi", "sh: Tool bash not found", "failed"],
  ])("%s: %s", async (program, said, status) => {
    const own = join(folder, "not-run.jsonl");
    writeFileSync(own, (lines[program]?.(said) ?? []).map((line) => JSON.stringify(line)).join("\n"));
    const [found] = await sessionsIn(own, REDACT);
    if (!found) throw new Error("Nothing was found.");
    const { messages } = stateOf(await readSession(found));
    const calls = [...messages.values()].flatMap((message) => (message.role === "assistant" ? message.calls : []));
    expect(calls.map(shownStatus)).toEqual([status]);
  });
});

test("S36: the title of a session, its first words and its labels have no secrets", async () => {
  const key = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
  const own = join(folder, "first-words.jsonl");
  const said = { type: "user", uuid: "a", parentUuid: null, sessionId: "s", cwd: "/" };
  writeFileSync(own, JSON.stringify({ ...said, message: { role: "user", content: `Use ${key} for it.` } }));
  const found = await sessionsIn(own, REDACT);
  expect(found.map(({ title }) => title)).toEqual(["Use [redacted:github-token] for it."]);
  const session: PastSession = {
    program: "pi",
    id: "s",
    title: key,
    beganAt: 1,
    left: [],
    messages: [{ key: "a", parent: null, at: 1, role: "user", parts: [{ type: "text", text: key }], label: key }],
  };
  expect(toJson(conversationOf(session, REDACT).events)).not.toContain(key);
});
