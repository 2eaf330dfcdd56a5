// The contract of a driver, tested against a sink of one's own.
import type { ModelPart, ModelRequest, ModelSink } from "@banyan/core/drivers";
import { expect, test } from "vitest";
import { echoModel } from "./driver.ts";

function request(text: string): ModelRequest {
  return {
    instructions: "",
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
    tools: [],
    toolChoice: "auto",
    settings: {},
  };
}

/** Takes parts until `room` of them are there; then it is full until `empty` is called. */
function sink(room = Number.POSITIVE_INFINITY) {
  const parts: ModelPart[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let full = false;
  const taking: ModelSink = {
    push(batch) {
      parts.push(...batch);
      full ||= parts.length === room;
      return !full;
    },
    ready: () => (full ? promise : Promise.resolve()),
  };
  const empty = () => {
    full = false;
    resolve();
  };
  return { ...taking, parts, empty };
}

const ever = new AbortController().signal;

test("an answer comes in order and ends with one finish", async () => {
  const { parts, ...rest } = sink();
  await echoModel().stream(request("one two"), rest, ever);
  expect(parts).toMatchObject([
    { type: "text", text: "one " },
    { type: "text", text: "two" },
    { type: "finish", reason: "stop" },
  ]);
});

test("an abort ends it at once, with the signal's reason and without a finish", async () => {
  const abort = new AbortController();
  const { parts, push, ready } = sink();
  const pushAndAbort: ModelSink["push"] = (batch) => {
    abort.abort("enough");
    return push(batch);
  };
  const streaming = echoModel().stream(request("one two three"), { push: pushAndAbort, ready }, abort.signal);
  await expect(streaming).rejects.toBe("enough");
  expect(parts).toEqual([{ type: "text", text: "one " }]);
});

test("a full sink is waited for", async () => {
  const { parts, empty, ...rest } = sink(1);
  const streaming = echoModel().stream(request("one two three"), rest, ever);
  await new Promise(setImmediate);
  expect(parts).toHaveLength(1);
  empty();
  await streaming;
  expect(parts).toHaveLength(4);
});

test("what it cannot answer is a ModelError that says what to do", async () => {
  const streaming = echoModel().stream(request(" "), sink(), ever);
  await expect(streaming).rejects.toMatchObject({ name: "ModelError", code: "invalid-request", retryable: false });
});

test("two streams at once do not mix", async () => {
  const [first, second] = [sink(), sink()];
  const model = echoModel();
  await Promise.all([model.stream(request("a b"), first, ever), model.stream(request("c d"), second, ever)]);
  expect([first, second].map(({ parts }) => parts.length)).toEqual([3, 3]);
  expect(second.parts[0]).toEqual({ type: "text", text: "c " });
});
