import fc from "fast-check";
import { expect, test } from "vitest";
import { Approval, ApprovalError } from "./approval.ts";

test("S27: all is taken for one conversation, with a yes, in a sandbox; once in each", () => {
  const approval = new Approval("ask");
  const inSandbox = { isConfined: true };
  expect(() => approval.use("all", inSandbox)).toThrow("is for one conversation");
  expect(() => approval.use("all", { ...inSandbox, unasked: { conversation: "a" } })).toThrow("needs a person's yes");
  const yes = { conversation: "a", confirmed: true };
  expect(() => approval.use("all", { isConfined: false, unasked: yes })).toThrow("--unconfined");
  approval.use("all", { ...inSandbox, unasked: yes });
  expect([approval.in("a"), approval.in("b"), approval.in(undefined), approval.mode]).toEqual([
    "all",
    "ask",
    "ask",
    "ask",
  ]);
  approval.use("edits", inSandbox);
  expect(approval.in("a")).toBe("edits");
  approval.use("all", { ...inSandbox, unasked: { conversation: "a" } });
  expect(approval.in("a")).toBe("all");
});

test("S27: whatever is tried in whatever order, no conversation is unasked that nobody said yes in", () => {
  const step = fc.record({
    mode: fc.constantFrom("ask" as const, "edits" as const, "all" as const),
    conversation: fc.constantFrom("a", "b", undefined),
    confirmed: fc.boolean(),
    isConfined: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const approval = new Approval("ask");
      const agreed = new Set<string>();
      for (const { mode, conversation, confirmed, isConfined } of steps) {
        const unasked = conversation === undefined ? undefined : { conversation, confirmed };
        try {
          approval.use(mode, { unasked, isConfined });
          if (mode === "all" && confirmed && conversation !== undefined) agreed.add(conversation);
        } catch (error) {
          expect(error).toBeInstanceOf(ApprovalError);
        }
        expect(approval.mode).not.toBe("all");
        for (const id of ["a", "b"]) if (!agreed.has(id)) expect(approval.in(id)).not.toBe("all");
      }
    }),
  );
});
