import { existsSync, readFileSync } from "node:fs";
import { type Answer, type AssistantMessage, Session, textOf } from "@banyan/core";
import type { FileChange } from "@banyan/core/conversation";
import { describe, expect, test } from "vitest";
import { play, SampleFolders } from "./testing/sample.fixture.ts";

/** Tests more faulty agents and longer conversations: each turn starts a process. */
const LONG = process.env.BANYAN_LONG !== undefined;

const allow = (): Answer => ({ decision: "allow" });

describe("files that an agent changes can be taken back", () => {
  test("Banyan stores the earlier content of each file before the agent changes the file, with or without a question", async () => {
    const place = new SampleFolders({ "a.txt": "old", "b.txt": "before" });
    const { calls } = await play("edit a.txt new\noverwrite b.txt after\noverwrite c.txt made", {
      model: place.sample(),
      person: allow,
    });
    const changes = calls.flatMap(({ changes = [] }) => changes);
    expect(changes.map(({ path, kind }) => [path, kind])).toEqual([
      ["a.txt", "changed"],
      ["b.txt", "changed"],
      ["c.txt", "created"],
    ]);
    for (const { before } of changes) if (before) expect(existsSync(`${place.backups}/${before}`)).toBe(true);
  });

  const shown = ({ changes = [] }: { readonly changes?: readonly FileChange[] }) =>
    changes.map(({ path, kind, before }) => [path, kind, before === null ? null : "kept"]);
  const everKept = (place: SampleFolders, calls: readonly { readonly changes?: readonly FileChange[] }[]) =>
    calls.every(({ changes = [] }) =>
      changes.every(({ before }) => before === null || existsSync(`${place.backups}/${before}`)),
    );

  test.each([
    ["a command that it runs without asking", { kind: "execute", rawInput: { command: "x" }, asks: false }],
    ["a command that a user allows", { kind: "execute", rawInput: { command: "x" } }],
    ["a call without known arguments", { kind: "other", asks: false }],
    ["a call that names another file", { kind: "edit", rawInput: { path: "other.txt" }, asks: false }],
    [
      "a call that is reported after its end, with a diff that calls a file new",
      {
        kind: "edit",
        asks: false,
        later: { content: [{ type: "diff", path: "new.txt", oldText: null, newText: "made" }] },
      },
    ],
  ])("F105: Banyan stores the agent's file changes, with the earlier contents, in %s", async (_, fields) => {
    const place = new SampleFolders({ "a.txt": "old", "gone.txt": "going", "same.txt": "same", ".gitignore": "built" });
    const does = "echo new > a.txt; printf made > new.txt; rm gone.txt; touch same.txt; echo x > built";
    const { calls } = await play(`call ${JSON.stringify({ ...fields, does })}\nsay Done`, {
      model: place.sample(),
      permission: () => ({ decision: "allow" }),
    });
    expect(calls.map((call) => shown(call).toSorted())).toEqual([
      [
        ["a.txt", "changed", "kept"],
        ["gone.txt", "deleted", "kept"],
        ["new.txt", "created", null],
      ],
    ]);
    expect(everKept(place, calls)).toBe(true);
  });

  test("F105: file changes that the agent did not report become a call, and the turn's answer stays the same", async () => {
    const place = new SampleFolders({ "a.txt": "old" });
    const { calls, responses, reason } = await play("secretly echo new > a.txt\nsay Done.", { model: place.sample() });
    expect(reason).toBe("answered");
    expect(textOf(responses.at(-1) as AssistantMessage)).toBe("Done.");
    expect(calls).toMatchObject([{ tool: "sample_edit", status: "completed", output: "Changed a.txt." }]);
    expect(calls.map(shown)).toEqual([[["a.txt", "changed", "kept"]]]);
    const { calls: next } = await play("say Nothing", { model: place.sample() });
    expect(next).toEqual([]);
  });

  test.each([
    ["is interrupted", "stuck echo new > a.txt"],
    ["dies", "stuck echo new > a.txt # die"],
  ])("F105: a call keeps the agent's file changes if the agent %s", async (_, act) => {
    const place = new SampleFolders({ "a.txt": "old" });
    const session = Session.inMemory();
    session.listen({
      items: (items) => {
        for (const item of items) if (item.type === "text.delta" && act.endsWith("txt")) session.interrupt();
      },
      ended() {},
    });
    const { calls } = await play(act, { model: place.sample(), session });
    expect(calls.map(shown)).toEqual([[["a.txt", "changed", "kept"]]]);
  });

  test("F105: a change appears once, in the call that made it", async () => {
    const place = new SampleFolders({ "a.txt": "0", "b.txt": "0" });
    const one = (does: string) =>
      `call ${JSON.stringify({ kind: "execute", rawInput: { command: does }, asks: false, does })}`;
    const { calls } = await play(
      `${one("echo 1 > a.txt")}\noverwrite b.txt 1\n${one("true")}\n${one("echo 2 > a.txt")}`,
      {
        model: place.sample(),
      },
    );
    expect(calls.map(({ changes = [] }) => changes.map(({ path }) => path))).toEqual([
      ["a.txt"],
      ["b.txt"],
      [],
      ["a.txt"],
    ]);
  });
});

describe("a conversation continues in the agent's session, and a branch in a fork of this session", () => {
  test("Banyan forks the agent's session if the agent can, so that other branches keep theirs", async () => {
    const model = new SampleFolders().sample("fork,embedded");
    const { session } = await play("say one", { model });
    const first = session.state.leaf ?? undefined;
    await play("say two", { model, session });
    const branch = await play("told", { model, session, at: first });
    expect(branch.text).toBe("one\nsay one | (fork) | told");
  });

  test.each(LONG ? ["resume", "load"] : ["load"])(
    "an agent with session/%s continues its session on the same branch alone, and Banyan drops the replayed past",
    async (way) => {
      const model = new SampleFolders().sample(`${way},embedded`);
      const { session } = await play("say one", { model });
      const first = session.state.leaf ?? undefined;
      const second = await play("told", { model, session });
      expect(second.responses.at(-1)?.parts).toMatchObject([{ text: `say one | (${way}) | told` }]);
      const branch = await play("told", { model, session, at: first });
      expect(branch.text).toContain("banyan://conversation.md");
      expect(branch.text).not.toContain(`(${way}) | told`);
    },
  );

  test("a new session gets the instructions and the whole conversation, also after the old session disappeared", async () => {
    const model = new SampleFolders().sample("fork", { SAMPLE_STATE: "" });
    const { session } = await play("say one", { model, instructions: "Be kind." });
    const { text } = await play("told", { model, session, instructions: "Be kind." });
    expect(text).toContain("Be kind.");
    expect(text).toContain("## User\n\nsay one\n\n## You\n\none");
    expect(text.endsWith("+ told")).toBe(true);
  });

  test("the agent gets the messages of another model together with the new message", async () => {
    const place = new SampleFolders();
    const { session } = await play("say one", { model: place.sample("fork,embedded") });
    await play("say other", { model: place.sample("", {}, { name: "other" }), session });
    const { responses } = await play("told", { model: place.sample("fork,embedded"), session });
    const [part] = responses.at(-1)?.parts ?? [];
    expect(part).toMatchObject({
      text: expect.stringMatching(/^say one \| \(fork\) \| <banyan:\/\/conversation.md>.*say other.*\+ told$/s),
    });
  });

  test.each([{ topP: 0.5 }, { seed: 7 }, { stop: ["END"] }])(
    "L6: the setting of %j is refused, because an agent would ignore it",
    async (settings) => {
      const { reason, problem } = await play("say one", { model: new SampleFolders().sample("embedded"), settings });
      const [setting] = Object.keys(settings);
      expect([reason, problem]).toEqual([
        "failed",
        `acp/sample does not support ${setting}; leave it out, or use another model`,
      ]);
    },
  );

  test("Banyan sets the effort in new and continued sessions, and refuses unknown efforts with a list of the known ones", async () => {
    const place = new SampleFolders();
    const thinking = (effort?: string) => place.sample("fork,embedded,effort", {}, { effort });
    const { session, text } = await play("effort", { model: thinking("high") });
    expect(text).toBe("thinks high");
    // Also by its display name.
    expect((await play("effort", { model: thinking("little"), session })).text).toContain("thinks low");
    const { reason, problem } = await play("effort", { model: thinking("max"), session });
    expect([reason, problem]).toEqual([
      "failed",
      'The agent "sample" has no effort "max". Add a colon and one of these efforts to the model name: low, high.',
    ]);
    const plain = await play("effort", { model: new SampleFolders().sample("embedded", {}, { effort: "low" }) });
    expect(plain.problem).toBe(
      'The agent "sample" has no effort "low". The agent has no effort levels. Name the model without a colon and an effort.',
    );
  });

  test.runIf(LONG)("Banyan deletes old sessions that only distant branches could need, if the agent can", async () => {
    const place = new SampleFolders();
    const model = place.sample("fork,delete");
    const session = Session.inMemory();
    for (let turn = 0; turn < 10; turn++) await play(`say ${turn}`, { model, session });
    const kept = Object.keys(JSON.parse(readFileSync(place.state, "utf8")) as object);
    expect(kept.length).toBeGreaterThanOrEqual(8);
    expect(kept.length).toBeLessThanOrEqual(9);
  });
});
