import { emptyConversation, type FeedItem, reduce } from "@banyan/core/conversation";
import { expect, test } from "vitest";
import { ActivityTracker } from "./activity.ts";

const state = emptyConversation();
const activities = new ActivityTracker();
let seq = 0;
/** Applies an item. Returns whether it belongs to a sub-agent. */
function happens(item: object): boolean {
  const placed = { seq: ++seq, epoch: 1, at: 0, ...item } as FeedItem;
  reduce(state, placed);
  return activities.note(placed, state);
}
const starts = (run: string, call?: string) => happens({ type: "run.started", run, leaf: null, ...(call && { call }) });
const runs = (message: string, call: string, tool: string, input: object) => {
  happens({ type: "call.pending", message, call, tool, inputText: "", input });
  return happens({ type: "call.executing", message, call, attempt: 1, key: "k" });
};

test("T25: the activity comes from the feed, and counts sub-agents without their own work", () => {
  expect(activities.doing).toBeUndefined();
  starts("r");
  happens({ type: "message.started", message: "a", parentId: null, run: "r", model: "m" });
  expect(activities.doing?.what).toBe("waiting for the model");
  runs("a", "c1", "shell", { command: "npm test" });
  expect(activities.doing?.what).toBe("running npm test");
  runs("a", "c2", "read", { path: "a.ts" });
  expect(activities.doing?.what).toBe("running 2 calls");
  happens({ type: "call.completed", message: "a", call: "c1", output: "" });
  expect(activities.doing?.what).toBe("running read a.ts");

  runs("a", "c3", "launch_agent", { task: "look" });
  expect(starts("sub", "c3")).toBe(true);
  expect(activities.doing).toMatchObject({ what: "running 2 calls, 1 sub-agent", agents: 1 });
  expect(
    happens({
      type: "message.added",
      message: "t",
      parentId: null,
      role: "user",
      author: "tool",
      call: "c3",
      parts: [],
    }),
  ).toBe(true);
  expect(happens({ type: "run.ended", run: "sub", reason: "finished", leaf: "t" })).toBe(true);
  expect(activities.doing?.what).toBe("running 2 calls");

  happens({ type: "call.pending", message: "a", call: "c4", tool: "shell", inputText: "", input: {} });
  happens({ type: "call.approval-requested", message: "a", call: "c4", question: "q" });
  expect(activities.doing).toMatchObject({ what: "waiting for you", isWaiting: true });
  happens({ type: "call.approval-resolved", message: "a", call: "c4", question: "q", allowed: false });
  expect(activities.doing).toMatchObject({ what: "running 2 calls", isWaiting: false });

  activities.stop();
  happens({ type: "call.completed", message: "a", call: "c2", output: "" });
  expect(activities.doing?.what).toBe("stopping");
  happens({ type: "run.ended", run: "r", reason: "interrupted", leaf: "a" });
  expect([activities.isBusy, activities.doing]).toEqual([false, undefined]);
});

test("F35, F26: a retry of the model shows a countdown, and a silent model whether its connection is alive", () => {
  starts("patient");
  const nextAt = Date.now() + 12_000;
  const retrying = {
    type: "model.retrying",
    run: "patient",
    delay: 12_000,
    nextAt,
    code: "rate-limit",
    reason: "Busy.",
  };
  happens({ ...retrying, attempt: 4, status: 429 });
  expect(activities.doing).toMatchObject({
    what: "rate limited, attempt 4",
    until: nextAt,
  });
  happens({ ...retrying, attempt: 5 });
  expect(activities.doing).toMatchObject({
    what: "rate limited, attempt 5",
    until: nextAt,
  });
  happens({ ...retrying, attempt: 1 });
  expect(activities.doing).toMatchObject({ what: "waiting for the rate limit", until: nextAt });
  happens({ ...retrying, code: "broken-stream", attempt: 6 });
  expect(activities.doing?.what).toBe("the answer broke off, attempt 6");
  happens({ type: "model.waiting", run: "patient", message: "a", time: 40_000, alive: true });
  expect(activities.doing?.what).toBe("thinking, the connection is alive");
  expect(Date.now() - (activities.doing?.since ?? 0)).toBeGreaterThanOrEqual(40_000);
  happens({ type: "model.waiting", run: "patient", message: "a", time: 60_000, alive: false });
  expect(activities.doing?.what).toBe("nothing from the model");
  happens({ type: "run.ended", run: "patient", reason: "answered", leaf: null });
});
