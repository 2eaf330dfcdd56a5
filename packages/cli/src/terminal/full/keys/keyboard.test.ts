import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { KeyBindings } from "./key-bindings.ts";
import { characterOf, Keyboard, marksPastes } from "./keyboard.ts";
import { Modes } from "./modes.ts";

let input: NodeJS.ReadStream & PassThrough;
let heard: unknown[];
let keyboard: Keyboard;

/** Starts a keyboard of a terminal with or without marked pastes. */
function opened(env: NodeJS.ProcessEnv): void {
  input = new PassThrough() as never;
  heard = [];
  const listener = {
    onKey: (key: string) => heard.push(key),
    onPaste: (text: string) => heard.push({ paste: text }),
    onTerminal: (knowsKitty: boolean) => heard.push({ knowsKitty }),
    onBackground: (scheme: string) => heard.push({ scheme }),
    onFocus: (focus: boolean) => heard.push({ focus }),
  };
  keyboard = new Keyboard(input, listener, env);
  keyboard.start();
}

beforeEach(() => opened({ TERM: "xterm-256color" }));
afterEach(() => keyboard.stop());

async function typed(...bytes: readonly (string | Buffer)[]): Promise<unknown[]> {
  for (const chunk of bytes) {
    input.write(chunk);
    await new Promise(setImmediate);
  }
  return heard;
}

describe("the keyboard", () => {
  test("keys that arrive together or in pieces are distinguished", async () => {
    expect(await typed("ab\r", "\x1b[", "A", "\x1b[13;2u", "\x1b\r")).toEqual([
      "a",
      "b",
      "\r",
      "\x1b[A",
      "\x1b[13;2u",
      "\x1b\r",
    ]);
  });

  test("C2: hears whether the terminal is looked at", async () => {
    expect(await typed("\x1b[O", "a\x1b[I")).toEqual([{ focus: false }, "a", { focus: true }]);
  });

  test("T7: hears Esc pressed twice", async () => {
    expect(await typed("\x1b\x1b")).toEqual(["\x1b", "\x1b"]);
  });

  test("puts characters of several bytes together", async () => {
    const [first, second] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
    expect(await typed(first, second)).toEqual(["é"]);
  });

  test("T9: a paste is one key event, whatever its content", async () => {
    expect(await typed("\x1b[200~one\r\ntw", "o\x03\x1b[201~x")).toEqual([{ paste: "one\r\ntwo\x03" }, "x"]);
  });

  test("T9: takes lines that arrive at once as typed, where the terminal marks a paste", async () => {
    expect(await typed("\rone\rtwo\r")).toEqual([..."\rone\rtwo\r"]);
  });

  test("T9: takes lines that arrive at once as a paste, where the terminal does not mark it", async () => {
    keyboard.stop();
    opened({ TERM: "linux" });
    expect(await typed("one\rtwo\r")).toEqual([{ paste: "one\rtwo\r" }]);
    expect(await typed("a\rb", "yes\r")).toEqual([{ paste: "one\rtwo\r" }, ..."a\rbyes\r"]);
  });

  test("T9: after the first marked paste, the terminal counts as one that marks pastes", async () => {
    keyboard.stop();
    opened({ TERM: "screen" });
    expect(await typed("\x1b[200~one\x1b[201~", "two\rthree\r")).toEqual([{ paste: "one" }, ..."two\rthree\r"]);
  });

  test("terminal responses are recognised, and never count as keys", async () => {
    expect(await typed("\x1b[?1u\x1b[?62;4c", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\")).toEqual([
      { knowsKitty: true },
      { scheme: "light" },
    ]);
  });

  test("recognises a terminal without Kitty's protocol", async () => {
    expect(await typed("\x1b[?6", "2c")).toEqual([{ knowsKitty: false }]);
  });

  test("T31: is waited for two seconds to say what its terminal is, and no longer", async () => {
    keyboard.stop();
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    keyboard.start();
    let isOver = false;
    const over = keyboard.answered.then(() => (isOver = true));
    await vi.advanceTimersByTimeAsync(1_900);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    await over;
  });

  test("hears no key that is let go", async () => {
    expect(await typed("\x1b[97;1:3u", "\x1b[97;1:1u")).toEqual(["\x1b[97;1:1u"]);
  });

  test("T18: in Kitty's protocol, too, Alt+Enter is one", async () => {
    await typed("\x1b[?1u\x1b[?62c", "\x1b[13;3u");
    expect(new KeyBindings().matches(heard.at(-1) as string, "send-later")).toBe(true);
  });
});

test.each([
  [{ TERM: "xterm-256color" }, "linux", true],
  [{ TERM: "alacritty" }, "darwin", true],
  [{ TERM: "screen-256color", TMUX: "/tmp/tmux,1,0" }, "linux", true],
  [{ TERM: "screen-256color" }, "linux", false],
  [{ TERM: "xterm", STY: "1.pts" }, "linux", false],
  [{ TERM: "linux" }, "linux", false],
  [{ TERM: "vt220" }, "linux", false],
  [{ TERM: "xterm-256color" }, "win32", false],
  [{}, "linux", false],
] as const)("T9: a terminal with %j on %s marks pastes: %s", (env, platform, marks) => {
  expect(marksPastes(env, platform)).toBe(marks);
});

test.each([
  ["a", "a"],
  ["é", "é"],
  ["😀", "😀"],
  ["\x1b[97;1u", "a"],
  ["\r", undefined],
  ["\x1b[A", undefined],
  ["\x01", undefined],
])("the key %j stands for %j", (key, character) => {
  expect(characterOf(key)).toBe(character);
});

test("T31: each mode that the terminal entered is left once", () => {
  const raw: boolean[] = [];
  let written = "";
  const output = { write: (text: string) => (written += text) } as never;
  const modes = new Modes({ setRawMode: (on: boolean) => raw.push(on) } as never, output);
  modes.enter();
  modes.useOtherKeys();
  modes.leave();
  modes.leave();
  expect(raw).toEqual([true, false]);
  expect(written).toBe(
    "\x1b[?2004h\x1b[?1004h\x1b[>1u\x1b[?u\x1b[c\x1b[>4;2m\x1b[<u\x1b[>4;0m\x1b[?1004l\x1b[?2004l\x1b[?25h",
  );
});
