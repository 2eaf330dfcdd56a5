import { existsSync } from "node:fs";
import { join } from "node:path";
import { Agent, Session, say } from "@banyan/core";
import { updatePlan } from "@banyan/core/hosts";
import { call, collect, scriptedModel } from "@banyan/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { links } from "../testing/links.ts";
import { modelServer, type ServerAnswer, write } from "../testing/model-server.ts";
import { hasTmux } from "../testing/pty.ts";
import { lastExchange } from "./views/exchange.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

const STEPS = [
  { title: "look around", status: "completed" },
  { title: "make it", status: "pending" },
];
const plan = (more: object = {}): ServerAnswer => ({
  calls: [{ tool: "update_plan", input: { steps: STEPS, ...more } }],
});
const made = (name: string) => existsSync(join(place.workspace, name));

describe.skipIf(!hasTmux).each(links)("C5: a plan ($link)", ({ open }) => {
  test("is refused with words, then allowed with a choice of how it is carried out: what changes something runs only then", async () => {
    await using server = await modelServer(
      write("made.txt", "made\n"),
      plan({ hand_in: true }),
      plan({ hand_in: true }),
      write("made.txt", "made\n"),
      { text: "It is made." },
    );
    using pty = await open(place, [...MODEL, "--approval", "plan"], server.env);
    await pty.prompted();
    await pty.exchange("/plan", "There is no plan on this branch.");
    pty.enter("make it");
    const asked = await pty.asked("Go ahead?");
    expect(asked).toContain("proposes a plan in");
    expect(asked).toContain("[x] look around");
    expect(asked).toContain("[ ] make it");
    expect(JSON.stringify(server.asked[1])).toContain("Approval mode 'plan' only allows reading");
    pty.press("n", "Enter");
    await pty.until("What should change:");
    pty.enter("in green");
    await pty.until("update_plan  1 of 2 done … denied");
    await pty.asked("Go ahead?");
    // A full terminal edits a plan as lines.
    pty.press("e", "Enter");
    await pty.until("of update_plan:");
    pty.type(" in green");
    pty.press("Enter");
    await pty.until("make it in green");
    await pty.asked("Go ahead?");
    pty.press("f", "Enter");
    await pty.until("It is made.");
    expect(made("made.txt")).toBe(true);
    expect(JSON.stringify(server.asked[2])).toContain("The user denied this call: in green");
    // T57: the rest of the plan is above the prompt, and `/plan` prints it.
    const left = "Plan: 1 of 2 done\n    [x] look around\n    [ ] make it in green";
    expect(await pty.prompted()).toContain(`${left}\n─ Reply to banyan:`);
    await pty.exchange("/plan", /^❯ \/plan\n+Plan: 1 of 2 done\n {4}\[x\] look around\n {4}\[ \] make it in green$/);
  });
});

test("each change of a plan appears on stderr and in the JSON stream; without a user the plan is the answer", async () => {
  await using server = await modelServer(plan(), { text: "Planned." });
  const text = await banyan(place, ["-p", "plan it", ...MODEL], server);
  expect(text).toMatchObject({ code: 0, stdout: "Planned.\n" });
  expect(text.stderr).toMatch(/update_plan {2}1 of 2 done … done.*\n {4}\[x\] look around\n {4}\[ \] make it\n/);

  await using again = await modelServer(plan(), plan({ hand_in: true }), write("made.txt", ""), {
    text: "This is my plan.",
  });
  const lines = await banyan(place, ["-p", "plan it", "--approval", "plan", "-o", "jsonl", ...MODEL], again);
  expect(lines).toMatchObject({ code: 4, stdout: expect.stringContaining("This is my plan.") });
  expect(lines.stdout).toContain('"about":{"title":"1 of 2 done","plan":[{"title":"look around"');
  expect(JSON.stringify(again.asked[2])).toContain(
    "no user can be asked here. Answer with the plan, and end your turn.",
  );
  expect(made("made.txt")).toBe(false);
});

test("an opened conversation shows the remaining steps of its plan below the last exchange", async () => {
  const session = Session.inMemory();
  const done = STEPS.map(({ title }) => ({ title, status: "completed" }));
  const model = scriptedModel([
    [call("update_plan", { steps: STEPS })],
    "I looked.",
    [call("update_plan", { steps: done })],
    "Made.",
  ]);
  const agent = new Agent({ model, tools: [updatePlan()] });
  const shown = () =>
    lastExchange(session.state, session.state.leaf, "banyan", {
      columns: 80,
      style: styleFor(process.stdout, "never"),
    });
  await collect(agent.chat(say("Look."), { session }));
  expect(shown()).toEqual([
    ...["you: Look.", "banyan: I looked.", "Plan: 1 of 2 done", "    [x] look around", "    [ ] make it"],
  ]);
  await collect(agent.chat(say("Make it."), { session }));
  expect(shown()).toEqual(["you: Make it.", "banyan: Made."]);
});
