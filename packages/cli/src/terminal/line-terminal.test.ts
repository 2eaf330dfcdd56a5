import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import { LineTerminal } from "./line-terminal.ts";
import { QUIET } from "./terminal.ts";

/** Well after the guard, whatever else the machine does. */
const AFTER_GUARD = QUIET + 200;

let input: NodeJS.ReadStream & PassThrough;
let output: NodeJS.WriteStream & PassThrough;
let terminal: LineTerminal;
let interrupts: number;
let typed: [message: string, later: boolean][];
let taken: boolean;

beforeEach(() => {
  const stream = () => Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input, columns: 80 });
  input = stream() as unknown as typeof input;
  output = stream() as unknown as typeof output;
  output.resume();
  interrupts = 0;
  typed = [];
  taken = false;
  const onInterrupt = () => {
    interrupts++;
  };
  const onTyped = (message: string, later: boolean) => {
    typed.push([message, later]);
    return taken;
  };
  terminal = new LineTerminal({ input, output, style: styleFor(process.stdout, "never"), onInterrupt, onTyped });
});
afterEach(() => terminal.close());

describe("S14: an answer", () => {
  test("is not what was typed as the question appeared", async () => {
    const answer = terminal.ask({ prompt: "Allow this? " });
    input.write("y\r");
    await sleep(AFTER_GUARD);
    input.write("n\r");
    expect(await answer).toBe("n");
    const next = terminal.read({ prompt: "> " });
    input.write("hello\r");
    expect(await next).toBe("hello");
  });

  test("is not the end of a message that was being typed; the message stays", async () => {
    await sleep(0);
    input.write("say yes or");
    await sleep(20);
    const answer = terminal.ask({ prompt: "Allow this? " });
    input.write(" n");
    await sleep(AFTER_GUARD);
    input.write("y\r");
    expect(await answer).toBe("y");
    const next = terminal.read({ prompt: "> " });
    input.write("o\r");
    expect(await next).toBe("say yes or no");
  });

  test("can follow at once when the same question is asked again", async () => {
    const answer = terminal.ask({ prompt: "Allow this? ", again: true });
    input.write("y\r");
    expect(await answer).toBe("y");
  });

  test("is none when the question is withdrawn", async () => {
    const asked = new AbortController();
    const answer = terminal.ask({ prompt: "Allow this? ", again: true, signal: asked.signal });
    asked.abort();
    expect(await answer).toBeUndefined();
    expect(interrupts).toBe(0);
  });

  test("is none when it is Ctrl-C, which interrupts", async () => {
    const answer = terminal.ask({ prompt: "Allow this? ", again: true });
    input.write("y\x03");
    expect(await answer).toBeUndefined();
    expect(interrupts).toBe(1);
  });
});

describe("what is typed while nobody asks", () => {
  test("is the next message, one for each Enter", async () => {
    input.write("first\rsecond\rthi");
    await sleep(20);
    expect(await terminal.read({ prompt: "> " })).toBe("first");
    expect(await terminal.read({ prompt: "> " })).toBe("second");
    const third = terminal.read({ prompt: "> " });
    input.write("rd\r");
    expect(await third).toBe("third");
  });

  test("T18: is told at once, with how it was ended; what is taken is no next message", async () => {
    taken = true;
    input.write("first\rsecond\x1b\rthi");
    await sleep(20);
    expect(typed).toEqual([
      ["first", false],
      ["second", true],
    ]);
    const next = terminal.read({ prompt: "> " });
    input.write("rd\r");
    expect(await next).toBe("third");
    expect(typed).toHaveLength(2);
  });

  test("B21: is held back after Ctrl-C", async () => {
    input.write("first\rsec\x03");
    await sleep(20);
    expect(interrupts).toBe(1);
    const held = terminal.read({ prompt: "> " });
    input.write("ond\r");
    expect(await held).toBe("first\nsecond");
  });
});

test("a terminal that is closed has no more answers", async () => {
  const message = terminal.read({ prompt: "> " });
  terminal.close();
  expect(await message).toBeUndefined();
  expect(await terminal.ask({ prompt: "? " })).toBeUndefined();
});
