import { expect, test } from "vitest";
import type { AssistantMessage, Call, Json, Message, PlanStep } from "../message.ts";
import { argumentsText, shownCall, thingText } from "./shown-call.ts";
import { planHeadline, planOn, shownPlan } from "./shown-plan.ts";

const PLAN: readonly PlanStep[] = [
  { title: "look", status: "completed" },
  { title: "mend\nit", status: "in_progress" },
  { title: "test", status: "pending" },
];

test("a plan is shown as lines in which nothing hides; of a long one what is done and what comes last is counted", () => {
  expect(shownPlan(PLAN).map(({ mark, text }) => `${mark} ${text}`)).toEqual(["[x] look", "[~] mend\\nit", "[ ] test"]);
  expect(planHeadline(PLAN)).toBe("1 of 3 done: mend\\nit");
  const long = Array.from({ length: 12 }, (_, index): PlanStep => {
    return { title: `${index}`, status: index < 4 ? "completed" : "pending" };
  });
  const cut = shownPlan(long, 5).map(({ mark, text }) => `${mark} ${text}`.trim());
  expect(cut).toEqual(["… (4 steps done)", "[ ] 4", "[ ] 5", "[ ] 6", "[ ] 7", "[ ] 8", "… (3 more steps)"]);
  const done = long.map(({ title }) => ({ title, status: "completed" as const }));
  expect(shownPlan(done, 5).map(({ text }) => text)).toEqual(["… (7 steps done)", "7", "8", "9", "10", "11"]);
});

test("the plan on a branch is what the last call there put down that has completed", () => {
  const call = (status: Call["status"], plan?: readonly PlanStep[]): Call => ({
    ...{ id: "c", tool: "t", inputText: "", attempt: 1, progress: "", status },
    ...(plan && { about: { plan } }),
  });
  const said = (...calls: Call[]): Message => ({ role: "assistant", parts: [], calls }) as unknown as AssistantMessage;
  const later = [{ title: "other", status: "pending" as const }];
  expect(planOn([said(call("completed", PLAN)), said(call("completed"))])).toBe(PLAN);
  expect(planOn([said(call("completed", PLAN)), said(call("failed", later), call("denied", later))])).toBe(PLAN);
  expect(planOn([said(call("completed", PLAN)), said(call("completed", later))])).toBe(later);
  expect(planOn([said(call("executing", PLAN))])).toBeUndefined();
});

test("S15: who decides about a plan reads its steps, and every other argument; changed ones as they are", () => {
  const steps = PLAN.map((step) => ({ ...step }));
  const call = { input: { steps, hand_in: true }, inputText: "", about: { plan: PLAN, handsIn: true } };
  // The question already says that the plan is submitted.
  expect(shownCall(call).map(({ text }) => text)).toEqual(["[x] look", "[~] mend\\nit", "[ ] test"]);
  const more = shownCall(call, { input: { steps, hand_in: true, where: "here" } }).map(({ text }) => text);
  expect(more).toEqual([
    ...["steps, 3 steps:", "[x] look", "[~] mend\\nit", "[ ] test", "hand_in: true", 'where: "here"'],
  ]);
  const withSteps = (steps: Json) => shownCall(call, { input: { steps, hand_in: true } }).map(({ text }) => text);
  expect(withSteps([])).toEqual(["steps: []", "hand_in: true"]);
  expect(withSteps([{ title: "rest", status: "pending" }])).toEqual(["[ ] rest"]);
  // Fields that a plan does not show are shown as JSON.
  expect(withSteps([{ title: "rest", status: "pending", run: "rm" }]).join(" ")).toContain('"run": "rm"');
  expect(withSteps([{ title: "rest", status: "toString" }]).join(" ")).toContain('"status": "toString"');
});

test("T47: a plan is changed as lines: what is written is its steps, and one that nobody touches stays what it was", () => {
  const input = { steps: PLAN.map((step) => ({ ...step })), hand_in: true };
  const { name, text, read } = thingText({ input, about: { plan: PLAN, handsIn: true } }) ?? argumentsText();
  expect({ name, text }).toEqual({ name: "steps", text: "[x] look\n[~] mend\\nit\n[ ] test" });
  expect(read(text)).toBe(input);
  const written = "[X] look\n\n- [~] mend it\n  2. test\n[ ]\n* rest [a bit]  ";
  expect(read(written)).toEqual({
    steps: [
      { title: "look", status: "completed" },
      { title: "mend it", status: "in_progress" },
      { title: "test", status: "pending" },
      { title: "rest [a bit]", status: "pending" },
    ],
    hand_in: true,
  });
  expect(() => read(" \n[x]\n")).toThrow(new SyntaxError("A plan needs a step at least: one on each line."));
});
