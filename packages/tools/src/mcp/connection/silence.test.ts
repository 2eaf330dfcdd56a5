import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ServerSilenceError, Silence } from "./silence.ts";

const never = new AbortController().signal;

test("B47: silence ends a request, but signs of life and a user's question do not", async () => {
  using silence = new Silence(300, never);
  await silence.during(async () => {
    silence.heard();
    await sleep(600);
  });
  expect(silence.signal.aborted).toBe(false);
  await expect.poll(() => silence.signal.aborted).toBe(true);
  expect(silence.signal.reason).toBeInstanceOf(ServerSilenceError);
  expect(silence.signal.reason.message).toBe("no sign of life for 300 ms");
});

test("an ended request leaves no timer", async () => {
  const silence = new Silence(50, never);
  silence[Symbol.dispose]();
  silence.heard();
  await sleep(150);
  expect(silence.signal.aborted).toBe(false);
});
