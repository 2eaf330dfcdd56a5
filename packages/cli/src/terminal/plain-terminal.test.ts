import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import { LEAVE_HINT } from "./contract/terminal.ts";
import { PlainTerminal } from "./plain-terminal.ts";

test("T5: in plain lines too, Ctrl-C twice leaves; a line between disarms it", async () => {
  const [input, output] = [new PassThrough(), new PassThrough({ encoding: "utf8" })];
  const terminal = new PlainTerminal({
    input: input as never,
    output: output as never,
    style: styleFor(process.stdout, "never"),
    env: {},
    onTyped: () => true,
    onInterrupt() {},
  });
  /** Output since the last call. */
  const written = async () => {
    await setImmediate();
    return output.read();
  };
  const message = terminal.read({ prompt: "Reply: " });
  terminal.interrupt();
  expect(await written()).toContain(LEAVE_HINT);
  input.write("hello\n");
  expect(await message).toBe("hello");

  const last = terminal.read({ prompt: "Reply: " });
  terminal.interrupt();
  expect(await written()).toContain(LEAVE_HINT);
  terminal.interrupt();
  expect(await last).toBeUndefined();
  terminal.close();
});

test("T39: in plain lines, what is asked is broken between words, as all lines of the program are", async () => {
  const [input, output] = [new PassThrough(), new PassThrough({ encoding: "utf8" })];
  const terminal = new PlainTerminal({
    input: input as never,
    output: Object.assign(output, { columns: 20 }) as never,
    style: styleFor(process.stdout, "never"),
    env: {},
    onTyped: () => true,
    onInterrupt() {},
  });
  const line = terminal.read({ prompt: "Numbers, or your own words: " });
  await expect.poll(() => output.read()).toBe("Numbers, or your own\nwords: ");
  input.write("1\n");
  expect(await line).toBe("1");
  terminal.close();
});

test("T1: in plain lines, Ctrl-C right behind Enter keeps what was entered from being sent, and shows it", async () => {
  const [input, output] = [new PassThrough(), new PassThrough({ encoding: "utf8" })];
  let heard = 0;
  const terminal = new PlainTerminal({
    input: input as never,
    output: output as never,
    style: styleFor(process.stdout, "never"),
    env: {},
    onTyped: () => true,
    onInterrupt: () => void heard++,
  });
  const message = terminal.read({ prompt: "Reply: " });
  input.write("delete it all\n");
  // The line has arrived, but the caller does not have it yet.
  await setImmediate();
  terminal.interrupt();
  const shown = "(interrupted before it was sent; you had written: delete it all)";
  await expect.poll(() => output.read()).toContain(shown);
  input.write("look\n");
  expect(await message).toBe("look");
  expect(heard).toBe(0);
  terminal.close();
});
