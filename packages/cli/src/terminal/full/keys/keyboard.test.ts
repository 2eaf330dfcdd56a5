import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KeyBindings } from "./key-bindings.ts";
import { characterOf, Keyboard } from "./keyboard.ts";
import { Modes } from "./modes.ts";

let input: NodeJS.ReadStream & PassThrough;
let heard: unknown[];
let keyboard: Keyboard;

beforeEach(() => {
  input = new PassThrough() as never;
  heard = [];
  const listener = {
    onKey: (key: string) => heard.push(key),
    onPaste: (text: string) => heard.push({ paste: text }),
    onTerminal: (knowsKitty: boolean) => heard.push({ knowsKitty }),
    onBackground: (scheme: string) => heard.push({ scheme }),
  };
  keyboard = new Keyboard(input, listener, {});
  keyboard.start();
});
afterEach(() => keyboard.stop());

async function typed(...bytes: readonly (string | Buffer)[]): Promise<unknown[]> {
  for (const chunk of bytes) {
    input.write(chunk);
    await new Promise(setImmediate);
  }
  return heard;
}

describe("the keyboard", () => {
  test("tells keys apart, also those that arrive together or in pieces", async () => {
    expect(await typed("ab\r", "\x1b[", "A", "\x1b[13;2u", "\x1b\r")).toEqual([
      "a",
      "b",
      "\r",
      "\x1b[A",
      "\x1b[13;2u",
      "\x1b\r",
    ]);
  });

  test("T7: hears Esc pressed twice", async () => {
    expect(await typed("\x1b\x1b")).toEqual(["\x1b", "\x1b"]);
  });

  test("puts characters of several bytes together", async () => {
    const [first, second] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
    expect(await typed(first, second)).toEqual(["é"]);
  });

  test("T9: takes a paste as one, whatever is in it", async () => {
    expect(await typed("\x1b[200~one\r\ntw", "o\x03\x1b[201~x")).toEqual([{ paste: "one\r\ntwo\x03" }, "x"]);
  });

  test("T9: takes lines that arrive at once as a paste, where the terminal does not mark it", async () => {
    expect(await typed("one\rtwo\r")).toEqual([{ paste: "one\rtwo\r" }]);
    expect(await typed("a\rb", "yes\r")).toEqual([{ paste: "one\rtwo\r" }, "a", "\r", "b", "y", "e", "s", "\r"]);
  });

  test("hears what the terminal answers; none of it is a key", async () => {
    expect(await typed("\x1b[?1u\x1b[?62;4c", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\")).toEqual([
      { knowsKitty: true },
      { scheme: "light" },
    ]);
  });

  test("hears of a terminal that does not know Kitty's protocol", async () => {
    expect(await typed("\x1b[?6", "2c")).toEqual([{ knowsKitty: false }]);
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

test("T31: whatever mode is entered is left, once", () => {
  const raw: boolean[] = [];
  let written = "";
  const output = { write: (text: string) => (written += text) } as never;
  const modes = new Modes({ setRawMode: (on: boolean) => raw.push(on) } as never, output);
  modes.enter();
  modes.useOtherKeys();
  modes.leave();
  modes.leave();
  expect(raw).toEqual([true, false]);
  expect(written).toBe("\x1b[?2004h\x1b[>1u\x1b[?u\x1b[c\x1b[>4;2m\x1b[<u\x1b[>4;0m\x1b[?2004l\x1b[?25h");
});
