import type { Event } from "@banyan/core";
import type { EventBody } from "@banyan/core/conversation";
import { expect, test } from "vitest";
import { runTimes } from "./run-times.ts";

/** Events of a log with their times in seconds. */
const log = (...events: readonly (readonly [second: number, body: object])[]) =>
  events.map(([second, body], seq) => ({ seq, at: second * 1_000, ...(body as EventBody) }) as Event);

const started = (run: string, call?: string) => ({ type: "run.started", run, leaf: "asked", ...(call && { call }) });
const ended = (run: string) => ({ type: "run.ended", run, reason: "answered", leaf: "said" });
const said = (message: string, run: string) => ({ type: "message.started", message, run });
const asks = (message: string, question: string) => ({ type: "call.approval-requested", message, question });
const told = (question: string) => ({ type: "call.approval-resolved", question });

test("C8: a turn's duration leaves out the time that it waited for a user, however many questions were open", () => {
  const [run] = runTimes(
    log(
      [0, started("a")],
      [1, said("m", "a")],
      [2, asks("m", "first")],
      [4, { type: "question.asked", message: "m", question: "second" }],
      [10, told("first")],
      [12, { type: "question.answered", question: "second" }],
      [15, { type: "run.paused", run: "a", question: "limit" }],
      [25, { type: "run.continued", run: "a", question: "limit" }],
      [30, ended("a")],
    ),
  );
  expect(run).toEqual({ leaves: ["asked", "said"], time: 10_000, reason: "answered" });
});

test("C8: a turn that ends with an open question waited until then, and a sub-agent's question stops no turn", () => {
  const [stopped, launching, ...more] = runTimes(
    log(
      [0, started("a")],
      [1, said("m", "a")],
      [2, asks("m", "never answered")],
      [9, ended("a")],
      [10, started("b")],
      [11, started("c", "call")],
      [12, said("n", "c")],
      [13, asks("n", "below")],
      [19, told("below")],
      [20, ended("c")],
      [21, ended("b")],
    ),
  );
  expect([stopped?.time, launching?.time, more]).toEqual([2_000, 11_000, []]);
});

test("C8: the duration of a waiting turn does not grow", () => {
  const [run] = runTimes(log([0, started("a")], [1, said("m", "a")], [3, asks("m", "open")]));
  expect(run?.time).toBe(3_000);
});
