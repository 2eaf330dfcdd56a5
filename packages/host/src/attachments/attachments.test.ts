import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attachedText } from "@banyan/core/shown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Rule } from "../permissions/match.ts";
import { pathScope } from "../permissions/place.ts";
import { readingRules } from "../permissions/reading-rule.ts";
import { attachNamedFiles } from "./attach.ts";

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

describe("B46: what goes along", () => {
  const only = async (text: string, options = {}) => attachNamedFiles(text, { folder, ...options });

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

  test("F82: a text keeps its byte-order mark, by which a later write knows the file as seen", async () => {
    writeFileSync(join(folder, "marked.txt"), "\ufeffalpha\n");
    const [, part] = (await only("@marked.txt")).parts;
    expect(part).toMatchObject({ text: '<file name="marked.txt">\n\ufeffalpha\n\n</file>' });
  });

  test.each(["utf-16le", "utf-16be"] as const)(
    "F82: a text in %s is decoded, and names its encoding",
    async (encoding) => {
      const bytes = Buffer.from("\ufeffgrün\n", "utf16le");
      writeFileSync(join(folder, "wide.txt"), encoding === "utf-16be" ? bytes.swap16() : bytes);
      const [, part] = (await only("@wide.txt")).parts;
      expect(part).toMatchObject({ text: `<file name="wide.txt" encoding="${encoding}">\n\ufeffgrün\n\n</file>` });
      expect(attachedText(part?.type === "text" ? part.text : "")).toMatchObject({ content: "\ufeffgrün\n", encoding });
      // Half a character is not text.
      writeFileSync(join(folder, "wide.txt"), Buffer.concat([bytes, Buffer.from([0xd8])]));
      expect((await only("@wide.txt")).problems).toEqual([
        expect.stringContaining("only text, images and PDF can be attached"),
      ]);
    },
  );

  test("F81: a message takes the file whose name resembles the given name, or names the nearest file", async () => {
    const own = mkdtempSync(join(tmpdir(), "banyan-attach-"));
    try {
      for (const name of ["v\u00a013.05.txt", "it\u2019s.md", "line\nend.txt", 'say "hi".txt', "notes.txt"])
        writeFileSync(join(own, name), name);
      const names = ['@"v 13.05.txt"', "@v\\ 13.05.txt", "@it\\'s.md", '@"line\\nend.txt"', '@"say \\"hi\\".txt"'];
      const { parts, problems } = await attachNamedFiles(names.join(" and "), { folder: own });
      expect(problems).toEqual([]);
      const bodies = parts
        .slice(1)
        .map((part) => (part.type === "text" ? part.text.replace(/^<file name=".*">\n|\n<\/file>$/g, "") : ""));
      expect(bodies).toEqual(["v\u00a013.05.txt", "it\u2019s.md", "line\nend.txt", 'say "hi".txt']);
      expect((await attachNamedFiles("@note.txt", { folder: own })).problems).toEqual([
        "Can't attach note.txt: there is no such file. Did you mean notes.txt?",
      ]);
    } finally {
      rmSync(own, { recursive: true });
    }
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

  test("binary, huge and missing files do not, with the reason", async () => {
    const { parts, attached, problems } = await only("@program.bin @large.txt @gone.txt @src/*.rs @someone");
    expect(parts).toHaveLength(1);
    expect(attached).toEqual([]);
    expect(problems).toEqual([
      "Can't attach program.bin: only text, images and PDF can be attached.",
      "Can't attach large.txt: it has 300000 bytes, and the limit is 262144. Name the part that matters, or let the agent read it.",
      "Can't attach gone.txt: there is no such file.",
      "Can't attach src/*.rs: it matches no file outside of node_modules and .git.",
    ]);
  });

  test("F79: a pattern with node_modules finds files in that folder", async () => {
    mkdirSync(join(folder, "node_modules/x"), { recursive: true });
    writeFileSync(join(folder, "node_modules/x/index.js"), "export {};\n");
    expect((await only("@node_modules/x/*.js")).attached).toMatchObject([
      { name: "node_modules/x/*.js", kind: "files" },
    ]);
    expect((await only("@node_modules/x/*.ts")).problems).toEqual([
      "Can't attach node_modules/x/*.ts: it matches no file outside of .git.",
    ]);
    expect((await only("@**/index.js")).problems).toEqual([
      "Can't attach **/index.js: it matches no file outside of node_modules and .git.",
    ]);
  });

  test("a page only where pages can be read, and its failure is a problem", async () => {
    expect((await only("@https://a.example/")).problems).toEqual([
      "Can't attach https://a.example/: web pages cannot be read here.",
    ]);
    const { parts } = await only("@https://a.example/", { readPage: async (url: string) => `text of ${url}` });
    expect(parts[1]).toEqual({
      type: "text",
      text: '<page name="https://a.example/">\ntext of https://a.example/\n</page>',
    });
    const failed = await only("@https://a.example/", { readPage: () => Promise.reject(new Error("status 404")) });
    expect(failed.problems).toEqual(["Can't attach https://a.example/: status 404"]);
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

describe("S21: targets of links and rules", () => {
  let outside: string;
  beforeAll(() => {
    outside = realpathSync(mkdtempSync(join(tmpdir(), "banyan-outside-")));
    writeFileSync(join(outside, "key.txt"), "the key\n");
    mkdirSync(join(folder, "secret"));
    writeFileSync(join(folder, "secret/plan.txt"), "the plan\n");
    symlinkSync(join(outside, "key.txt"), join(folder, "notes.txt"));
    symlinkSync(outside, join(folder, "docs"));
    symlinkSync("a.txt", join(folder, "same.txt"));
    symlinkSync("secret/plan.txt", join(folder, "plain.txt"));
  });
  afterAll(() => rmSync(outside, { recursive: true, force: true }));

  const problems = async (text: string, options = {}) => {
    const { parts, problems } = await attachNamedFiles(text, { folder, outside: true, ...options });
    expect(JSON.stringify(parts)).not.toMatch(/the key|the plan/);
    return problems;
  };

  test("S21: a link out of the workspace is reported with its real path, and not read", async () => {
    const why = (name: string, path: string) =>
      `Can't attach ${name}: a link leads to ${join(outside, path)}. Name that path if you mean it.`;
    expect(await problems("@notes.txt @docs/key.txt @docs/")).toEqual(
      [why("notes.txt", "key.txt"), why("docs/key.txt", "key.txt"), why("docs/", "")].map((sentence) =>
        sentence.replace("/. Name", ". Name"),
      ),
    );
    expect(await problems("@note*.txt")).toEqual([why("notes.txt", "key.txt")]);
  });

  test("S21: a local user may name files outside the workspace; a user of a server may not", async () => {
    const named = `@${join(outside, "key.txt")}`;
    expect((await attachNamedFiles(named, { folder, outside: true })).attached).toHaveLength(1);
    const refusal = "it is outside the workspace, and a message to a server can name only files inside.";
    expect(await problems(`${named} @../x @docs/key.txt`, { outside: false })).toEqual([
      `Can't attach ${named.slice(1)}: ${refusal}`,
      `Can't attach ../x: ${refusal}`,
      `Can't attach docs/key.txt: ${refusal}`,
    ]);
    expect(await problems(`@${outside}/* @../*`, { outside: false })).toHaveLength(2);
  });

  test("S21: a link inside the workspace is followed", async () => {
    expect((await attachNamedFiles("@same.txt", { folder })).parts[1]).toMatchObject({
      text: expect.stringContaining("alpha"),
    });
  });

  test("S21: a rule on reading applies to files in messages under any name; a question allows a file by its name", async () => {
    const { deny, ask } = { deny: [{ tool: "read", pattern: "secret/**" }], ask: [] as Rule[] };
    const rules = (denied: Rule[], asked: Rule[]) =>
      readingRules(pathScope(folder, "/home/a"), { deny: denied, ask: asked, allow: [] }, () => "ask");
    expect(await problems("@secret/plan.txt @plain.txt @secret/*", { whyNotRead: rules(deny, ask) })).toEqual(
      ["secret/plan.txt", "plain.txt", "secret/plan.txt"].map(
        (name) => `Can't attach ${name}: the rule 'read(secret/**)' forbids it.`,
      ),
    );
    const whyNotRead = rules([], deny);
    expect(await problems("@plain.txt", { whyNotRead })).toEqual([
      "Can't attach plain.txt: the rule 'read(secret/**)' asks about secret/plan.txt. Name it by this path.",
    ]);
    expect((await attachNamedFiles("@secret/plan.txt", { folder, whyNotRead })).attached).toHaveLength(1);
  });
});
