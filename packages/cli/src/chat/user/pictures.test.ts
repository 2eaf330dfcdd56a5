import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { LARGEST_FILES } from "@banyan/protocol";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { open } from "../../terminal/full/testing/opened.ts";
import { home } from "../../testing/banyan.ts";
import { links } from "../../testing/links.ts";
import { modelServer } from "../../testing/model-server.ts";
import { hasTmux, type Pty } from "../../testing/pty.ts";
import { Pictures } from "./pictures.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\n the rest", "latin1");
const ENTER = "\r";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-pictures-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

function put(name: string, bytes: Buffer | string = PNG): string {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
}

describe("T50: a picture", () => {
  test("a dropped picture or a pasted path becomes a mark in every quoting, and the message attaches the picture", () => {
    const pictures = new Pictures({ env: {} });
    const [one, two] = [put("a b's.png"), put("two.png", Buffer.concat([PNG, PNG]))];
    const forms = [
      one,
      `"${one}"`,
      `'${one.replace("'", `'\\''`)}'`,
      one.replaceAll(/([ '])/g, "\\$1"),
      pathToFileURL(one).href,
    ];
    for (const form of forms) expect(pictures.pasted(`${form} `)).toEqual({ text: "[image: a b's.png] " });
    expect(pictures.pasted(`"${one}"\n${two}`)).toEqual({ text: "[image: a b's.png] [image: two.png] " });
    expect(pictures.written("compare [image: two.png] with [image: a b's.png] and [image: two.png]")).toEqual({
      parts: [
        { type: "text", text: "compare [image: two.png] with [image: a b's.png] and [image: two.png]" },
        { type: "file", mediaType: "image/png", name: "two.png", data: Buffer.concat([PNG, PNG]).toString("base64") },
        { type: "file", mediaType: "image/png", name: "a b's.png", data: PNG.toString("base64") },
      ],
      unknown: [],
    });
  });

  test("F81: a picture with a special space in its name is attached, also if the user types an ordinary space", () => {
    const pictures = new Pictures({ env: {} });
    const shot = put("Screenshot 2026-11-29 at 9.00.00\u202fAM.png");
    const forms = [
      shot,
      `"${shot}"`,
      `'${shot}'`,
      shot.replaceAll(" ", "\\ "),
      shot.replaceAll(" ", "\\ ").replace("\u202f", "\\\u202f"),
      shot.replace("\u202f", " "),
      shot.replace("\u202f", " ").replaceAll(" ", "\\ "),
      pathToFileURL(shot).href,
    ];
    for (const form of forms)
      expect(pictures.pasted(`${form} `)).toEqual({
        text: "[image: Screenshot 2026-11-29 at 9.00.00\\u{202f}AM.png] ",
      });
  });

  test("a second picture of the same name gets a number; the mark of an unknown picture is reported", () => {
    const pictures = new Pictures({ env: {} });
    const path = put("shot].png");
    expect(pictures.pasted(path).text).toBe("[image: shot_.png] ");
    expect(pictures.pasted(path).text).toBe("[image: shot_.png] ");
    put("shot].png", Buffer.concat([PNG, PNG]));
    expect(pictures.pasted(path).text).toBe("[image: shot_.png 2] ");
    expect(pictures.written("[image: of mine]")).toEqual({ parts: [expect.anything()], unknown: ["of mine"] });
    pictures.keep([{ type: "file", mediaType: "image/png", name: "of mine", data: "AAAA" }]);
    expect(pictures.written("[image: of mine]").parts).toHaveLength(2);
  });

  test("a file without a picture's bytes is reported and stays a path; other text gets no message", () => {
    const pictures = new Pictures({ env: {} });
    const fake = put("fake.png", "<html>");
    expect(pictures.pasted(fake)).toEqual({
      text: fake,
      problem: expect.stringMatching(/^fake\.png is not a PNG/),
    });
    const others = [
      put("notes.txt", "hi"),
      folder,
      "/no/such.png",
      "see /a/b.png",
      "'",
      "x".repeat(1_000_000),
      "/dev/zero",
      "a\nb",
    ];
    for (const text of others) expect(pictures.pasted(text)).toEqual({ text });
  });

  test("a picture that is too large is reported, and so are pictures too large together", () => {
    const pictures = new Pictures({ env: {} });
    const large = put("large.png", Buffer.concat([PNG, Buffer.alloc(LARGEST_FILES)]));
    expect(pictures.pasted(large)).toEqual({
      text: large,
      problem: expect.stringMatching(/^Can't attach large\.png: the file has/),
    });
    const half = (name: string, byte: number) =>
      put(name, Buffer.concat([PNG, Buffer.alloc(LARGEST_FILES * 0.6, byte)]));
    const { text } = pictures.pasted(`${half("a.png", 1)} ${half("b.png", 2)}`);
    expect(() => pictures.written(text)).toThrow("The pictures of one message can have at most");
  });

  test("is pasted into the prompt by its path, by an empty paste and by Ctrl-V; a command keeps the path", async () => {
    const here = open();
    const pictures = new Pictures({ env: {}, platform: "linux" });
    here.terminal.configure({ pictures });
    const path = put("a.png");
    const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;
    const message = here.reads();
    here.keys("see ", paste(path), "please", ENTER);
    expect(await message).toBe("see [image: a.png] please");
    const command = here.reads();
    here.keys("!file ", paste(path), ENTER);
    expect(await command).toBe(`!file ${path}`);
    const next = here.reads();
    for (const asked of [paste(""), "\x16"]) {
      here.keys(asked);
      await here.screen.until("Not done: Reading a picture from your clipboard needs");
      here.keys("\x0c");
    }
    here.keys(paste(put("b.png", "no")));
    await here.screen.until("b.png is not a PNG");
    here.keys(ENTER);
    expect(await next).toBe(join(folder, "b.png"));
  });
});

test.skipIf(!hasTmux)(
  "T50: a picture of this machine goes to a server with the message, and again when that is said in other words; what begins with a path is a message",
  async () => {
    using place = home();
    await using server = await modelServer({ text: "It is red." }, { text: "Hosts." }, { text: "Still red." });
    const [atServer] = links.slice(-1);
    using pty = (await atServer?.open(place, ["--model", "openai-compatible/test"], server.env)) as Pty;
    await pty.prompted();
    pty.paste(put("a b.png"));
    await pty.until("[image: a b.png]");
    await pty.exchange("what is it?", "It is red.");
    expect(pty.screen()).toContain(`Attached: a b.png (image, ${PNG.length} B)`);
    const bytes = PNG.toString("base64");
    expect(JSON.stringify(server.asked[0])).toContain(bytes);
    await pty.exchange("/etc/hosts says what?", "Hosts.");
    expect(server.asked[1]?.at(-1)?.content).toBe("/etc/hosts says what?");
    pty.enter("/edit #1");
    await pty.until(/^─ Reply to banyan: .*\n\[image: a b\.png\] what is it\?$/);
    pty.enter(" Now?");
    await pty.until("Still red.");
    expect(JSON.stringify(server.asked[2])).toMatch(new RegExp(`what is it\\? Now\\?.*${RegExp.escape(bytes)}`));
  },
);
