import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import { random, sentence } from "../testing/sentences.ts";
import { PlainTerminal } from "./plain-terminal.ts";

/** A terminal device: in line mode, it keeps a line until Enter; in raw mode, it passes each character on. */
class Device extends PassThrough {
  #line = "";
  #isRaw = false;

  setRawMode(isRaw: boolean): void {
    this.#isRaw = isRaw;
    if (isRaw) this.#pass();
  }

  press(key: string): void {
    this.#line += key;
    if (this.#isRaw || key === "\n") this.#pass();
  }

  #pass(): void {
    if (this.#line !== "") this.write(this.#line);
    this.#line = "";
  }
}

const DECISION = {
  title: "banyan asks to run shell",
  body: ["rm -rf build"],
  question: "Allow this?",
  choices: [
    { key: "y", text: "Yes, once" },
    { key: "a", text: "Yes, and don't ask again" },
    { key: "n", text: "No, and say why", takesWords: "Reason (optional)" },
  ],
};
const FORM = {
  title: "banyan asks:",
  text: "How?",
  begun: [],
  fields: [{ heading: "Sizes", text: "Which?", several: true, choices: [{ label: "small" }, { label: "huge" }] }],
};

function opened() {
  const device = new Device();
  const output = new PassThrough({ encoding: "utf8" });
  const sent: string[] = [];
  const terminal = new PlainTerminal({
    input: device as never,
    output: output as never,
    style: styleFor(process.stdout, "never"),
    env: {},
    onTyped: (message) => sent.push(message) > 0,
    onInterrupt() {},
  });
  output.resume();
  return { device, terminal, sent };
}

/** Types sentences while questions appear and are answered by another client. Returns the answers. */
async function answersTo(seed: number, sentences: number): Promise<unknown[]> {
  const next = random(seed);
  const { device, terminal } = opened();
  const answers: unknown[] = [];
  let gone = new AbortController();
  let asked: Promise<void> = Promise.resolve();
  for (let count = 0; count < sentences; count++) {
    const pace = 20 + next() ** 3 * 580;
    for (const key of [...sentence(next), "\n"]) {
      if (next() < 0.2) {
        // One question at a time, as the chat asks.
        gone.abort();
        await asked;
        gone = new AbortController();
        const { signal } = gone;
        const answer = next() < 0.5 ? terminal.decide({ ...DECISION, signal }) : terminal.fill({ ...FORM, signal });
        asked = answer.then((given) => void (given !== undefined && answers.push(given)));
      }
      device.press(key);
      await sleep(pace);
    }
  }
  gone.abort();
  await asked;
  terminal.close();
  return answers;
}

test("T64, S14: in plain lines, 2,000 sentences typed around questions give 0 answers", {
  timeout: 60_000,
}, async () => {
  const all = await Promise.all(Array.from({ length: 500 }, (_, seed) => answersTo(seed, 4)));
  expect(all.flat()).toEqual([]);
});

test("T64: in plain lines, a line begun before the question is sent as a message, and only a listed key answers", {
  timeout: 10_000,
}, async () => {
  const { device, terminal, sent } = opened();
  for (const key of "do ") device.press(key);
  const decided = terminal.decide(DECISION);
  await sleep(400);
  for (const key of "y\n") device.press(key);
  await expect.poll(() => sent).toEqual(["do y"]);
  for (const line of ["yes\n", "y please\n", "n: not now\n"]) {
    for (const key of line) device.press(key);
    await sleep(50);
  }
  expect(await decided).toEqual({ key: "n", words: "not now" });
  terminal.close();
});
