import { expect, test } from "vitest";
import { Approval, ApprovalError, NEEDS_SANDBOX } from "./approval.ts";

test("S27: all is taken for one conversation, with a yes, in a sandbox; once in each", () => {
  const approval = new Approval("ask");
  expect(() => approval.use("all")).toThrow("applies to one conversation");
  expect(() => approval.use("all", { unasked: { conversation: "a" } })).toThrow("needs the user's confirmation");
  const yes = { conversation: "a", confirmed: true };
  expect(() => approval.use("all", { refusal: NEEDS_SANDBOX, unasked: yes })).toThrow("--unconfined");
  approval.use("all", { unasked: yes });
  expect([approval.in("a"), approval.in("b"), approval.in(undefined), approval.mode]).toEqual([
    "all",
    "ask",
    "ask",
    "ask",
  ]);
  approval.use("edits");
  expect(approval.in("a")).toBe("edits");
  approval.use("all", { unasked: { conversation: "a" } });
  expect(approval.in("a")).toBe("all");
});

test("T45: file changes are allowed for one run, until the user chooses another mode", () => {
  const approval = new Approval("ask");
  approval.use("edits", { run: "one" });
  expect([approval.in("a", "one"), approval.in("a", "two"), approval.in("a"), approval.mode]).toEqual([
    "edits",
    "ask",
    "ask",
    "ask",
  ]);
  approval.use("ask");
  expect(approval.in("a", "one")).toBe("ask");
});

test("an allowed plan runs only in its conversation, until the user chooses a mode again", () => {
  const approval = new Approval("plan");
  approval.carryOut("a", "ask");
  approval.use("edits", { run: "one" });
  expect([approval.in("a"), approval.in("a", "one"), approval.in("b", "one"), approval.in(undefined)]).toEqual([
    ...["ask", "edits", "plan", "plan"],
  ]);
  expect(approval.carriedOut).toEqual([{ conversation: "a", approval: "ask" }]);
  approval.use("plan");
  expect([approval.in("a"), approval.in("a", "one")]).toEqual(["plan", "plan"]);
  approval.use("all", { unasked: { conversation: "a", confirmed: true } });
  expect([approval.in("a"), approval.in("b")]).toEqual(["all", "plan"]);
  approval.use("ask");
  approval.carryOut("a", "edits");
  expect(approval.in("a")).toBe("ask");
});

test("S37: sandbox applies everywhere; a refusal changes nothing, and without a sandbox the mode is ask again", () => {
  const approval = new Approval("plan");
  approval.carryOut("a", "edits");
  approval.use("edits", { run: "one" });
  expect(() => approval.use("sandbox", { refusal: "There is no sandbox." })).toThrow("There is no sandbox.");
  expect([approval.in("a"), approval.in("b"), approval.carriedOut]).toEqual([
    "edits",
    "plan",
    [{ conversation: "a", approval: "edits" }],
  ]);
  approval.use("sandbox");
  expect([approval.in("a"), approval.in("b", "one"), approval.in(undefined), approval.mode]).toEqual(
    Array(4).fill("sandbox"),
  );
  approval.withdraw();
  expect([approval.in("a"), approval.mode]).toEqual(["ask", "ask"]);
});

/** All ways to set a mode. */
const STEPS = (["plan", "ask", "edits", "sandbox", "all"] as const).flatMap((mode) =>
  (["a", "b", undefined] as const).flatMap((conversation) =>
    [true, false].flatMap((confirmed) =>
      [NEEDS_SANDBOX, undefined].map((refusal) => ({ mode, conversation, confirmed, refusal })),
    ),
  ),
);

test("S27: no random sequence of actions runs a call that nobody allowed", () => {
  const wrong: unknown[] = [];
  for (const first of STEPS)
    for (const second of STEPS)
      for (const third of STEPS) {
        const approval = new Approval("ask");
        const agreed = new Set<string>();
        for (const { mode, conversation, confirmed, refusal } of [first, second, third]) {
          const unasked = conversation === undefined ? undefined : { conversation, confirmed };
          try {
            approval.use(mode, { unasked, refusal });
            if (mode === "all" && confirmed && conversation !== undefined) agreed.add(conversation);
          } catch (error) {
            if (!(error instanceof ApprovalError)) throw error;
          }
          const isUnasked = ["a", "b"].some((id) => !agreed.has(id) && approval.in(id) === "all");
          if (isUnasked || approval.mode === "all") wrong.push([first, second, third]);
        }
      }
  expect(wrong).toEqual([]);
});
