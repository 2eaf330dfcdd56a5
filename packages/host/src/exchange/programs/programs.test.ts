import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shownStatus } from "@banyan/client/words";
import { type ConversationState, emptyConversation, reduce } from "@banyan/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redactor } from "../../redaction/redactor.ts";
import { conversationOf, fromJson, type PastSession, readSession, sessionsIn, toJson } from "../index.ts";
import { ImportOmissions } from "./reading.ts";

// The programs themselves wrote the sessions in `fixtures`, with mocked providers: Claude Code 2.1.197, Codex 0.169.0, pi 0.74.2
// and opencode 1.18.33. All sessions have the same content: a file written and edited, a failed command, two parallel calls, a
// sub-agent (if supported), a step back, a refusal of the provider, a compaction and a fork. Paths and the programs' instructions
// were removed.

const REDACT = redactor({ env: {} });
const FIXTURES = join(import.meta.dirname, "fixtures");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-programs-"));
  cpSync(FIXTURES, folder, { recursive: true });
  writeDatabase(join(folder, "opencode", "opencode.db"), join(FIXTURES, "opencode", "rows.json"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the database from which the rows were exported. */
function writeDatabase(file: string, rows: string): void {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  using database = new DatabaseSync(file);
  const tables: Record<string, Record<string, unknown>[]> = JSON.parse(readFileSync(rows, "utf8"));
  for (const [table, all] of Object.entries(tables)) {
    const columns = [...new Set(all.flatMap((row) => Object.keys(row)))];
    database.exec(`CREATE TABLE ${table} (${columns.join(", ")})`);
    const insert = database.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => "?").join(", ")})`);
    for (const row of all)
      insert.run(
        ...columns.map((column) => {
          const value = row[column] ?? null;
          return typeof value === "object" && value !== null
            ? JSON.stringify(value)
            : (value as string | number | null);
        }),
      );
  }
}

/** The sessions of a folder, oldest first. */
async function read(...path: readonly string[]): Promise<PastSession[]> {
  const found = await sessionsIn(join(folder, ...path), REDACT);
  const sessions = await Promise.all(found.map(readSession));
  return sessions.sort((a, b) => b.messages.length - a.messages.length);
}

function stateOf(session: PastSession): ConversationState {
  const { events } = fromJson(toJson(conversationOf(session, REDACT).events));
  const state = emptyConversation();
  for (const event of events) expect(reduce(state, event).skipped).toBeUndefined();
  return state;
}

/** The tree, with a line per message and call. */
function treeOf(state: ConversationState, place: string | null = null, depth = 0): string[] {
  return (state.children.get(place) ?? []).flatMap((id) => {
    const message = state.messages.get(id);
    if (!message) return [];
    const said = message.parts.flatMap((part) =>
      part.type === "text" ? (part.text.split("\n")[0]?.slice(0, 40) ?? "") : [],
    );
    const why = message.role === "assistant" ? (message.error ?? "") : "";
    const who = message.role === "user" ? message.author : message.role === "summary" ? "summary" : ">";
    const calls = message.role === "assistant" ? message.calls : [];
    return [
      `${" ".repeat(depth)}${who} ${said.join(" ")}${why}`.trimEnd(),
      ...calls.flatMap((call) => [
        `${" ".repeat(depth)}* ${call.tool} ${call.status}${(call.changes ?? []).map(({ kind, path }) => ` ${kind} ${path}`).join("")}`,
        ...treeOf(state, call.id, depth + 2),
      ]),
      ...treeOf(state, id, depth + ((state.children.get(place)?.length ?? 0) > 1 ? 1 : 0)),
    ];
  });
}

describe("B56, C14: a session of another program comes in with its tree, its calls and what came of them", () => {
  test("of Claude Code, with sub-agents, a way gone back, a failure and a summary", async () => {
    const [session, fork] = (await read("claude-code")) as [PastSession, PastSession];
    expect(session).toMatchObject({ program: "claude-code", version: "2.1.197", directory: "/project", left: [] });
    const state = stateOf(session);
    expect(treeOf(state)).toEqual([
      "user write a file",
      ">",
      "* Write completed created notes.txt",
      "> I have **written** it.",
      "user edit it",
      ">",
      "* Read completed",
      ">",
      "* Edit completed changed notes.txt",
      "> Edited.",
      "user break something",
      " >",
      " * Bash failed",
      " > That failed.",
      " user both at once",
      " >",
      " * Read completed",
      " * Bash completed",
      " > Both read.",
      " user ask an agent",
      " >",
      " * Agent completed",
      "   user Count the files here.",
      "   >",
      "   * Bash completed",
      "   > One file.",
      " > The agent counted one file.",
      "user another way",
      " > You said: another way",
      " user refuse",
      " > API Error: 400 it was told to fail",
      " summary This session is being continued from a p",
      ' system <file name="/project/notes.txt">',
      " user after that",
      " > You said: after that",
    ]);
    const models = [...state.messages.values()].flatMap((message) =>
      message.role === "assistant" ? message.model : [],
    );
    expect(new Set(models).size).toBe(1);
    expect(models[0]).toMatch(/^anthropic\/claude-/);
    expect(state.usage).toMatchObject({ input: 120 * 15, output: 30 * 15 });
    expect(new Date(state.createdAt).toISOString()).toMatch(/^2026-11-26T06:51/);
    expect(fork.messages.at(-1)).toMatchObject({ parts: [{ text: "You said: forked question" }] });
  });

  test("of Codex, from all files in which it goes on, and a fork with what is before it", async () => {
    const [session, fork] = (await read("codex")) as [PastSession, PastSession];
    expect(session).toMatchObject({ program: "codex", version: "0.169.0", directory: "/project", left: [] });
    const state = stateOf(session);
    expect(treeOf(state)).toEqual([
      "user write a file",
      ">",
      "* exec_command completed created notes.txt",
      "> I have **written** it.",
      "user edit it",
      ">",
      "* exec_command completed",
      "> Edited.",
      "user break something",
      " >",
      " * exec_command failed",
      " > That failed.",
      "user another way",
      " > You said: another way",
      " user ask an agent",
      " >",
      " * spawn_agent completed",
      "   system Message Type: NEW_TASK",
      "   > You said: </environment_context>",
      " >",
      " * wait_agent completed",
      " system Message Type: FINAL_ANSWER",
      " > The agent counted one file.",
      " user refuse",
      " > it was told to fail",
      " summary Another language model started to solve",
      " user after that",
      " > You said: after that",
    ]);
    expect(fork).toMatchObject({ forkOf: session.id, left: [] });
    expect(treeOf(stateOf(fork)).slice(-3)).toEqual([
      "> it was told to fail",
      "user forked question",
      "> You said: forked question",
    ]);
    expect(state.usage.cached).toBe(80);
  });

  test("of pi, with the branches of one file, the summary of one, a name, and what it cost", async () => {
    const [session, fork] = (await read("pi")) as [PastSession, PastSession];
    expect(session).toMatchObject({ program: "pi", title: "A named session", directory: "/project", left: [] });
    const state = stateOf(session);
    expect(treeOf(state)).toEqual([
      "user write a file",
      ">",
      "* write completed",
      "> I have **written** it.",
      "user edit it",
      ">",
      "* edit completed",
      "> Edited.",
      "user break something",
      " >",
      " * bash failed",
      " > That failed.",
      " user both at once",
      " >",
      " * read completed",
      " * bash completed",
      " > Both read.",
      "user another way",
      " > You said: another way",
      " user refuse",
      " > 400 it was told to fail",
      "system Before this, another branch was tried, a",
      " user after the summary of a branch",
      " > You said: after the summary of a branch",
      " summary Summary: a file notes.txt was written an",
      " user after that",
      " > You said: after that",
    ]);
    const priced = [...state.messages.values()].filter((message) => message.role === "assistant" && message.cost);
    expect(priced).toHaveLength(11);
    expect(fork).toMatchObject({ forkOf: session.id });
  });

  test("of opencode, with sub-agents that have sessions of their own, and what was taken back out of sight", async () => {
    const [session, fork] = (await read("opencode")) as [PastSession, PastSession];
    expect(session).toMatchObject({ program: "opencode", version: "1.18.33", directory: "/project", left: [] });
    const state = stateOf(session);
    expect(treeOf(state)).toEqual([
      'user "write a file"',
      ">",
      "* write completed created notes.txt",
      "> I have **written** it.",
      'user "edit it"',
      ">",
      "* edit completed",
      "> Edited.",
      'user "break something"',
      ">",
      "* bash failed",
      "> That failed.",
      'user "both at once"',
      ">",
      "* read completed",
      "* bash completed",
      "> Both read.",
      'user "ask an agent"',
      ">",
      "* task completed",
      "  user Count the files here.",
      "  >",
      "  * bash completed",
      "  > One file.",
      "> The agent counted one file.",
      "user refuse",
      "> it was told to fail",
      "summary Summary: a file notes.txt was written an",
      "user after that",
      "> You said: after that",
      "user to be taken back",
      "> You said: to be taken back",
    ]);
    const stands = state.leaf === null ? undefined : state.messages.get(state.leaf);
    expect(stands?.parts).toMatchObject([{ text: "You said: after that" }]);
    expect(fork.messages).toHaveLength(19);
  });
});

describe("B56: what is damaged is named, and hides nothing else", () => {
  const file = ["claude-code", "-project", "f329ec92-90bb-47fd-80a9-bb11776b2dd1.jsonl"];

  async function damaged(change: (lines: string[]) => void): Promise<PastSession> {
    const own = join(folder, "damaged");
    mkdirSync(own, { recursive: true });
    const lines = readFileSync(join(FIXTURES, ...file), "utf8")
      .trimEnd()
      .split("\n");
    change(lines);
    writeFileSync(join(own, "session.jsonl"), lines.join("\n"));
    const [session] = await read("damaged");
    rmSync(own, { recursive: true });
    if (!session) throw new Error("Nothing was found.");
    return session;
  }

  test("lines that are no JSON or no objects, of unknown kinds, without their parent, and a result without its call", async () => {
    const session = await damaged((lines) => {
      lines[0] = "[]";
      lines[1] = '{"type":"moon","uuid":"m","sessionId":"s"}';
      lines[3] = lines[3]?.slice(0, 40) ?? "";
      lines[5] = "\u0000\u0001";
    });
    expect(session.left).toEqual([
      "a line that is not an object (line 1)",
      "“moon”, which is unknown (line 2)",
      "a damaged line: the JSON ends too early (line 4)",
      expect.stringMatching(/^earlier messages are missing, .* \(lines 5, 7\)$/),
      'a damaged line: the JSON is not valid at "\\u0000" (line 6)',
      "a result without its call (line 7)",
    ]);
    expect(treeOf(stateOf(session)).at(-1)).toBe(" > You said: after that");
  });

  test("a file that was cut anywhere is read as far as it goes, and one that is no session is none", async () => {
    const whole = readFileSync(join(FIXTURES, ...file));
    for (let cut = 1; cut < whole.length; cut += Math.ceil(whole.length / 15)) {
      const own = join(folder, "cut.jsonl");
      writeFileSync(own, whole);
      truncateSync(own, cut);
      for (const found of await sessionsIn(own, REDACT)) stateOf(await readSession(found));
    }
    writeFileSync(
      join(folder, "noise.jsonl"),
      Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7) % 256)),
    );
    writeFileSync(join(folder, "noise.db"), "no database");
    expect(await sessionsIn(join(folder, "noise.jsonl"), REDACT)).toEqual([]);
    await expect(sessionsIn(join(folder, "noise.db"), REDACT)).rejects.toThrow("not a database");
    expect((await sessionsIn(folder, REDACT)).length).toBeGreaterThan(7);
  });

  test("S10: secrets that another program kept are taken out", async () => {
    const key = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    const session = await damaged((lines) => {
      lines[6] = lines[6]?.replace("File created successfully", `The token is ${key}`) ?? "";
    });
    const log = toJson(conversationOf(session, REDACT).events);
    expect(log).not.toContain(key);
    expect(log).toContain("[redacted:github-token]");
  });
});

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

test("F75: a file of a session that no message can hold is left out, and that is told", () => {
  const left = new ImportOmissions();
  const source = { type: "base64", media_type: "image/png", data: "AQID" };
  expect(left.userFile({ type: "image", source }, 1)).toEqual([{ type: "file", mediaType: "image/png", data: "AQID" }]);
  expect(left.userFile({ type: "image", source: { ...source, data: "***" } }, 2)).toEqual([]);
  expect(left.userFile({ type: "image", source: { ...source, media_type: "png" } }, 3)).toEqual([]);
  expect(left.told).toEqual(["a file with another media type or other data than a message can hold (lines 2, 3)"]);
});
