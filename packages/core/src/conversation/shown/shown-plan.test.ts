import { expect, test } from "vitest";
import type { AssistantMessage, Call, Message, PlanStep } from "../message.ts";
import { planHeadline, planOnPath, shownPlan } from "./shown-plan.ts";

const PLAN: readonly PlanStep[] = [
  { title: "look", status: "completed" },
  { title: "mend\nit", status: "in_progress" },
  { title: "test", status: "pending" },
];

test("a plan is shown as lines without hidden text; a long plan counts its finished and last steps", () => {
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

test("the plan of a branch comes from its last completed call", () => {
  const call = (status: Call["status"], plan?: readonly PlanStep[]): Call => ({
    id: "c",
    tool: "t",
    inputText: "",
    attempt: 1,
    progress: "",
    status,
    ...(plan && { about: { plan } }),
  });
  const said = (...calls: Call[]): Message => ({ role: "assistant", parts: [], calls }) as unknown as AssistantMessage;
  const later = [{ title: "other", status: "pending" as const }];
  expect(planOnPath([said(call("completed", PLAN)), said(call("completed"))])).toBe(PLAN);
  expect(planOnPath([said(call("completed", PLAN)), said(call("failed", later), call("denied", later))])).toBe(PLAN);
  expect(planOnPath([said(call("completed", PLAN)), said(call("completed", later))])).toBe(later);
  expect(planOnPath([said(call("executing", PLAN))])).toBeUndefined();
});
