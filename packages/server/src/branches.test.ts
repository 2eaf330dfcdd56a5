import { createId, defineTool, launchAgent } from "@banyan/core";
import { call, scriptedModel, stall, text } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { talking } from "./testing/talking.fixture.ts";

const say = (words: string) => [{ type: "text", text: words }] as const;

/** A conversation in which each message waits for the end of its turn. */
async function inTurns(...given: Parameters<typeof talking>) {
  const { client, conversation, state, ended } = await talking(...given);
  let turns = 0;
  return {
    client,
    conversation,
    state,
    /** Sends a message, and returns the end of the branch after the turn. */
    async talk(words: string, at?: string): Promise<string> {
      await client.ask("turn.say", { conversation, parts: say(words), ...(at === undefined ? {} : { at }) });
      await ended(++turns);
      return state.leaf ?? "";
    },
  };
}

const ANSWERS = ["Red, because ".padEnd(2_000, "it is warm, "), "Round.", "Large.", "Heavy."];

test("B42: a branch is summed up with what is to be kept, and what is said next goes on below the summary", async () => {
  const model = scriptedModel([...ANSWERS, "Red is liked.", "Yes."]);
  const { client, conversation, state, talk } = await inTurns({ model });
  expect(await client.ask("branch.compact", { conversation })).toEqual({ problem: "There are no messages yet." });
  for (const _ of ANSWERS) await talk("what is it like?");
  const leaf = state.leaf;
  const id = createId();
  const first = client.ask("branch.compact", { id, conversation, keep: "the colour, not sk-secret" });
  const { summary = "" } = await first;
  expect(state.messages.get(summary)).toMatchObject({ role: "summary", parentId: leaf, parts: say("Red is liked.") });
  const asked = JSON.stringify(model.requests.at(-1)?.messages.at(-1));
  expect(asked).toContain("follow these instructions of the user for the summary:\\nthe colour, not [redacted:key]");
  // A repeated command acts once; a new one has nothing to compact.
  const compaction = { messages: 2, before: expect.any(Number), after: expect.any(Number) };
  expect(await client.ask("branch.compact", { id, conversation })).toEqual({ summary, compaction });
  expect(await client.ask("branch.compact", { conversation })).toEqual({
    problem: "There is nothing to compact yet.",
  });
  await talk("is it so?");
  const said = JSON.stringify(model.requests.at(-1)?.messages);
  expect(said).toMatch(/Red is liked\..*Heavy\..*is it so\?/);
  expect(said).not.toContain("it is warm");
  expect(model.asked).toBe(6);
});

test("F99: a summary is edited beside itself, once for each id, without secrets; nothing else can be edited so", async () => {
  const model = scriptedModel(["Red.", "Round.", "Red is liked.", "Yes."]);
  const { client, conversation, state, talk } = await inTurns({ model });
  for (let turn = 0; turn < 2; turn++) await talk("what is it like?");
  const { summary = "" } = await client.ask("branch.compact", { conversation });
  const id = createId();
  for (const text of ["Blue is liked, not sk-secret.", "Sent again."])
    expect(await client.ask("summary.edit", { id, conversation, message: summary, text })).toEqual({ message: id });
  expect(state.messages.get(id)).toMatchObject({
    role: "summary",
    parentId: state.messages.get(summary)?.parentId,
    parts: say("Blue is liked, not [redacted:key]."),
  });
  const [first = ""] = state.messages.keys();
  for (const message of [first, createId()])
    await expect(client.ask("summary.edit", { conversation, message, text: "x" })).rejects.toMatchObject({
      code: "not-found",
    });
  await expect(client.ask("summary.edit", { conversation, message: summary, text: " " })).rejects.toMatchObject({
    message: "A summary needs some text; this summary is empty.",
  });
  await talk("is it so?");
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/Blue is liked.*is it so\?/);
});

test("B42: an impossible compaction is refused, and an interrupted compaction changes nothing", async () => {
  const model = scriptedModel([...ANSWERS, [text("Su"), stall()], [text("I look"), stall()]]);
  const { client, conversation, state, talk } = await inTurns({ model });
  for (const wrong of [{ at: createId() }, { conversation: createId() }])
    await expect(client.ask("branch.compact", { conversation, ...wrong })).rejects.toMatchObject({ code: "not-found" });
  for (const wrong of [{ keep: " " }, { keep: "x".repeat(10_001) }, { at: 1 }]) {
    const sent = client.ask("branch.compact", { conversation, ...wrong } as never);
    await expect(sent).rejects.toMatchObject({ code: "malformed" });
  }
  for (const _ of ANSWERS) await talk("what is it like?");
  const [leaf, [root = ""]] = [state.leaf, [...state.messages.keys()]];
  const id = createId();
  const summing = client.ask("branch.compact", { id, conversation });
  await client.item("context.shortening", ({ run }) => run === id);
  // An agent on another branch continues.
  await client.ask("turn.say", { conversation, at: root, parts: say("and else?") });
  await client.until(() => client.items.some((item) => "text" in item && item.text === "I look"));
  expect(await client.ask("run.interrupt", { conversation, run: id })).toEqual({ interrupted: 1 });
  expect(await summing).toEqual({ problem: "interrupted by the user" });
  expect([...state.messages.values()].some(({ role }) => role === "summary")).toBe(false);
  expect(state.messages.get(leaf ?? "")).toMatchObject({ role: "assistant", parts: say("Heavy.") });
  const [working] = state.runs.values();
  const here = client.ask("branch.compact", { conversation, at: working?.leaf ?? "" });
  await expect(here).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining("Interrupt the agent or wait"),
  });
  expect(model.asked).toBe(6);
});

test("T29: files that a sub-agent changed are not restored while its parent or another agent works", async () => {
  const plant = defineTool({
    name: "plant",
    description: "",
    input: { type: "object" },
    effects: "idempotent",
    async execute(_input: unknown, { changed }) {
      await changed({ path: "oak.txt", kind: "created", before: null, after: "a", added: 1, removed: 0, diff: "" });
      return "planted";
    },
  });
  const wait = defineTool({
    name: "wait",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: (_input: unknown, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
  });
  const launch = (task: string) => call("launch_agent", { task, expected_output: "a word" });
  const model = scriptedModel(({ messages: [first], messages }) => {
    const told = JSON.stringify(first);
    if (told.includes("Task: plant"))
      return messages.length === 1 ? [call("plant")] : [call("finish_task", { result: "planted" })];
    if (told.includes("Task: look")) return [call("wait")];
    return [launch("Task: plant"), launch("Task: look")];
  });
  const { client, conversation, state } = await inTurns({ model, tools: [plant, wait, launchAgent()] });
  await client.ask("turn.say", { conversation, parts: say("go") });
  const { call: planted, message } = await client.item("file.changed");
  // The sub-agent that planted has ended; the other one works, and their parent waits for it.
  await client.item("run.ended");
  expect([...state.runs.values()].filter((run) => run.call !== undefined)).toHaveLength(1);
  for (const leaf of [state.leaf ?? "", message])
    for (const asked of [
      client.ask("file.rewind", { conversation, leaf, asOf: 0 }),
      client.ask("file.undo", { conversation, leaf, call: planted }),
    ])
      await expect(asked).rejects.toMatchObject({
        code: "invalid",
        message: expect.stringContaining("Interrupt the agent"),
      });
});
