import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConversationState } from "@banyan/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conversationOf, type PastSession, readSession, sessionsIn, toJson } from "../index.ts";
import { ImportOmissions } from "./json-lines.ts";
import { REDACT, stateOf, writeDatabase } from "./programs.fixture.ts";

const FIXTURES = join(import.meta.dirname, "fixtures");

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-programs-"));
  cpSync(FIXTURES, folder, { recursive: true });
  writeDatabase(join(folder, "opencode", "opencode.db"), join(FIXTURES, "opencode", "rows.json"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The sessions of a folder, oldest first. */
async function read(...path: readonly string[]): Promise<PastSession[]> {
  const found = await sessionsIn(join(folder, ...path), REDACT);
  const sessions = await Promise.all(found.map(readSession));
  return sessions.sort((a, b) => b.messages.length - a.messages.length);
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

describe("B56, C14: a session of another program is imported with its tree, its calls and their results", () => {
  test("of Claude Code, with sub-agents, a rewind, a failure and a summary", async () => {
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

  test("of Codex, from all files of its continuation, and a fork with its beginning", async () => {
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

  test("of pi, with the branches and the summary of a file, a name, and the cost", async () => {
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
      "system An earlier branch of this session was ab",
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

  test("of opencode, with the sessions of sub-agents, and without reverted messages", async () => {
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

describe("B56: an import names damaged parts, and reads all others", () => {
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

  test("a cut file is read up to the cut, and other files are no session", async () => {
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

test("F75: an import leaves out a file that no message can contain, and says so", () => {
  const left = new ImportOmissions();
  const source = { type: "base64", media_type: "image/png", data: "AQID" };
  expect(left.userFile({ type: "image", source }, 1)).toEqual([{ type: "file", mediaType: "image/png", data: "AQID" }]);
  expect(left.userFile({ type: "image", source: { ...source, data: "***" } }, 2)).toEqual([]);
  expect(left.userFile({ type: "image", source: { ...source, media_type: "png" } }, 3)).toEqual([]);
  expect(left.told).toEqual(["a file with another media type or other data than a message can hold (lines 2, 3)"]);
});
