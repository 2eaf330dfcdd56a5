import { expect, test } from "vitest";
import type { Event, EventBody } from "../conversation/event.ts";
import { checkLog } from "./check-log.ts";

const started = (run: string, leaf: string) => ({ type: "run.started", run, leaf }) as EventBody;
const added = (message: string, parentId: string | null, run?: string) =>
  ({ type: "message.added", message, parentId, run, role: "user", parts: [] }) as unknown as EventBody;
const answer = (message: string, parentId: string, run: string) =>
  ({ type: "message.started", message, parentId, run, model: "m" }) as EventBody;
const pending = { type: "call.pending", message: "a", call: "c", tool: "t", inputText: "" } as EventBody;
const executing = { type: "call.executing", message: "a", call: "c", attempt: 1, key: "a.c" } as EventBody;
const completed = { type: "call.completed", message: "a", call: "c", output: "" } as EventBody;

/** A run that has asked for a call. */
const asking = [added("u", null), started("r", "u"), answer("a", "u", "r"), pending];

test.each<[string, readonly EventBody[], RegExp]>([
  ["a call with two results", [...asking, executing, completed, completed], /^Call c has two results/],
  ["a call that starts twice", [...asking, executing, executing], /^Call c was started twice/],
  ["a call that starts after its result", [...asking, completed, executing], /^Call c was started after its result/],
  [
    "a run where another one stands",
    [...asking, executing, completed, added("note", "a", "r"), started("s", "note")],
    /^Run s begins at note, where run r is at work/,
  ],
  ["a run that goes on from calls at work", [...asking, started("s", "a")], /^Run s .*run r (has|is) at work/],
  [
    "an answer below calls at work",
    [...asking, added("v", "a"), started("s", "v"), answer("b", "v", "s")],
    /^Run s goes on from c, calls that run r has at work/,
  ],
  ["a run that leaves its branch", [...asking, executing, completed, answer("b", "u", "r")], /^Run r wrote b below u/],
  [
    "a text that is delivered twice",
    [added("i", null), { type: "input.delivered", input: "i" }, { type: "input.delivered", input: "i" }],
    /^Text i was delivered twice/,
  ],
  ["a text that is no message", [{ type: "input.delivered", input: "i" }], /^Text i was called delivered before/],
])("F25: %s is a problem of a log", (_, bodies, problem) => {
  expect(checkLog(bodies.slice(0, -1).map(at(1)))).toEqual([]);
  expect(checkLog(bodies.map(at(1)))[0]).toMatch(problem);
});

test("F25: a call may start again in another process, and a run of a gone process belongs to nobody", () => {
  const before = [...asking, executing].map(at(1));
  const after = [started("s", "a"), executing, completed, answer("b", "a", "s")].map(at(2));
  expect(checkLog([...before, ...after])).toEqual([]);
});

test("F83: a retry begins beside a run at a text that the run delivered", () => {
  const delivered = { ...added("steer", "a", "r"), author: "user" } as EventBody;
  const bodies = [...asking, executing, completed, delivered, started("s", "steer"), answer("b", "steer", "s")];
  expect(checkLog(bodies.map(at(1)))).toEqual([]);
});

function at(epoch: number): (body: EventBody, index: number) => Event {
  return (body, index) => ({ ...body, seq: index + 1, epoch, at: 0 });
}
