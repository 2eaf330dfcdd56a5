import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import { PlainTerminal } from "./plain-terminal.ts";
import { LEAVE_HINT } from "./terminal.ts";

test("T5: in plain lines too, Ctrl-C twice leaves; a line between disarms it", async () => {
  const [input, output] = [new PassThrough(), new PassThrough({ encoding: "utf8" })];
  const terminal = new PlainTerminal({
    input: input as never,
    output: output as never,
    style: styleFor(process.stdout, "never"),
    onTyped: () => true,
    onInterrupt() {},
  });
  /** What was written since the last time. */
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
