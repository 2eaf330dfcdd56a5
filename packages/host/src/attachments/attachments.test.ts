import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attach, referencesIn } from "./index.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-attach-"));
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "a.txt"), "alpha\n");
  writeFileSync(join(folder, "with blank.txt"), "blank");
  writeFileSync(join(folder, "src/one.ts"), "export const one = 1;");
  writeFileSync(join(folder, "src/two.ts"), "export const two = 2;");
  writeFileSync(join(folder, "picture.dat"), PNG);
  writeFileSync(join(folder, "paper.pdf"), "%PDF-1.7 ...");
  writeFileSync(join(folder, "program.bin"), Buffer.from([1, 0, 2, 0]));
  writeFileSync(join(folder, "large.txt"), "x".repeat(300_000));
  writeFileSync(join(folder, "main"), "a file whose name is a word");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("B46: what a message names", () => {
  test.each<[string, string[]]>([
    ["Read @a.txt, please.", ["a.txt"]],
    ["@a.txt", ["a.txt"]],
    ["Compare @src/one.ts with @src/two.ts.", ["src/one.ts", "src/two.ts"]],
    ['See @"with blank.txt"!', ["with blank.txt"]],
    ["(@src/) and @**/*.ts", ["src/", "**/*.ts"]],
    ["@https://a.example/x?y=1.", ["https://a.example/x?y=1"]],
    ["Mail me@a.example or @@twice", []],
    ["main, a.txt and https://a.example stay words", []],
    ["use @scope/package@1.2.3", ["scope/package@1.2.3"]],
  ])("%s", (text, names) => {
    expect(referencesIn(text).map(({ name }) => name)).toEqual(names);
  });
});

describe("B46: what goes along", () => {
  const only = async (text: string, options = {}) => attach(text, { folder, ...options });

  test("a text file, with its name, and the message stays as it was typed", async () => {
    expect(await only("Read @a.txt, please.")).toEqual({
      parts: [
        { type: "text", text: "Read @a.txt, please." },
        { type: "text", text: '<file name="a.txt">\nalpha\n\n</file>' },
      ],
      attached: [{ name: "a.txt", kind: "text", size: 6 }],
      problems: [],
    });
  });

  test("an image and a PDF as they are, known by their content", async () => {
    const { parts, attached } = await only("@picture.dat @paper.pdf");
    expect(parts.slice(1)).toEqual([
      { type: "file", mediaType: "image/png", name: "picture.dat", data: PNG.toString("base64") },
      { type: "file", mediaType: "application/pdf", name: "paper.pdf", data: expect.any(String) },
    ]);
    expect(attached.map(({ kind }) => kind)).toEqual(["image", "PDF"]);
  });

  test("a folder as its names, a pattern as its files", async () => {
    const { parts, attached } = await only("@src/ @src/*.ts");
    expect(parts.slice(1).map((part) => (part.type === "text" ? part.text : part.type))).toEqual([
      '<folder name="src/">\none.ts\ntwo.ts\n</folder>',
      '<file name="src/one.ts">\nexport const one = 1;\n</file>',
      '<file name="src/two.ts">\nexport const two = 2;\n</file>',
    ]);
    expect(attached.map(({ kind, size }) => [kind, size])).toEqual([
      ["folder", 13],
      ["files", 42],
    ]);
  });

  test("binary and huge files do not, with the reason; nor what is not there", async () => {
    const { parts, attached, problems } = await only("@program.bin @large.txt @gone.txt @src/*.rs @someone");
    expect(parts).toHaveLength(1);
    expect(attached).toEqual([]);
    expect(problems).toEqual([
      "program.bin does not go along: it is neither text nor an image nor a PDF.",
      "large.txt does not go along: it has 300000 bytes, and 262144 is the most; name the part that matters, or let the agent read it.",
      "gone.txt does not go along: there is no such file.",
      "src/*.rs does not go along: it names no file.",
    ]);
  });

  test("a page only where pages can be read, and its failure is a problem", async () => {
    expect((await only("@https://a.example/")).problems).toEqual([
      "https://a.example/ does not go along: pages of the web cannot be read here.",
    ]);
    const { parts } = await only("@https://a.example/", { readPage: async (url: string) => `text of ${url}` });
    expect(parts[1]).toEqual({
      type: "text",
      text: '<page name="https://a.example/">\ntext of https://a.example/\n</page>',
    });
    const failed = await only("@https://a.example/", { readPage: () => Promise.reject(new Error("status 404")) });
    expect(failed.problems).toEqual(["https://a.example/ does not go along: status 404"]);
  });

  test("a resource of a server, if there is one of that name", async () => {
    const readResource = async (name: string) => (name === "notes:file:///a" ? "a note" : undefined);
    const { attached, problems } = await only("@notes:file:///a @other:thing", { readResource });
    expect(attached).toEqual([{ name: "notes:file:///a", kind: "resource", size: 6 }]);
    expect(problems).toEqual([]);
  });

  test("S10: without its secrets", async () => {
    const { parts } = await only("@a.txt", { redact: (text: string) => text.replace("alpha", "[redacted]") });
    expect(parts[1]).toMatchObject({ text: '<file name="a.txt">\n[redacted]\n\n</file>' });
  });

  test("each thing once", async () => {
    expect((await only("@a.txt and again @a.txt")).attached).toHaveLength(1);
  });
});
