import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { casesFrom, readCases } from "./cases.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cases-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function read(...lines: readonly string[]) {
  const file = join(folder, "cases.yaml");
  writeFileSync(file, lines.join("\n"));
  return readCases(file);
}

const WORKS = ["cases:", "  - name: a", "    say: x", "    expect: [{ contains: y }]"];

describe("C16: a file of cases", () => {
  test("is read with the common part of all cases, and with folders and prompts relative to its place", () => {
    mkdirSync(join(folder, "in"));
    writeFileSync(join(folder, "careful.md"), "Look twice.");
    const cases = read(
      "models: [openai/gpt-5]",
      'prompts: { short: "Be brief.", careful: "@careful.md" }',
      "limits: { steps: 9, time: 60 }",
      "total: { cost: 2, time: 10 }",
      "cases:",
      "  - name: a",
      "    say: [x, y]",
      "    folder: in",
      "    limits: { steps: 3 }",
      "    files: { b/c.txt: hello }",
      "    expect: [{ file: b/c.txt, equals: hello }, { command: ls, exit: 1 }]",
    );
    expect(cases).toMatchObject({
      name: "cases.yaml",
      models: ["openai/gpt-5"],
      prompts: { short: "Be brief.", careful: "Look twice." },
      total: { cost: 2, time: 10_000 },
      repetitions: 1,
    });
    expect(cases.cases).toMatchObject([
      { name: "a", say: ["x", "y"], mode: "task", folder: join(folder, "in"), limits: { steps: 3, time: 60_000 } },
    ]);
  });

  test.each([
    ["no YAML", ["cases: [", "x"], /cases\.yaml:\d:\d: this is not YAML/],
    ["no cases", ["models: [a/b]"], /cases\.yaml: cases: found nothing; expected a list of cases\.$/],
    ["an empty list of cases", ["cases: []"], /:1:8: cases: found \[\]; expected at least one case\.$/],
    [
      "a name that is not known",
      ["model: x", ...WORKS],
      /:1:1: model: 'model' is not known; expected 'models' or 'mode'\.$/,
    ],
    [
      "one in a check",
      [...WORKS.slice(0, 3), "    expect:", "      - contain: y"],
      /:5:9: cases\[0\]\.expect\[0\]\.contain: 'contain' is not known; expected 'contains'\.$/,
    ],
    [
      "two cases of one name",
      [...WORKS, ...WORKS.slice(1)],
      /:5:11: cases\[1\]\.name: cases\[0\] has the name "a" too; give it another name\.$/,
    ],
    [
      "a case without a check",
      [...WORKS.slice(0, 3), "    expect: []"],
      /expected at least one thing that must hold\.$/,
    ],
    [
      "a number for a text",
      [...WORKS.slice(0, 3), "    expect: [{ equals: 4 }]"],
      /found 4; expected a text \(put a number/,
    ],
    ["a check of nothing", [...WORKS.slice(0, 3), "    expect: [{}]"], /expected command, file or judge, or what the/],
    [
      "a file of which nothing is demanded",
      [...WORKS.slice(0, 3), "    expect: [{ file: a }]"],
      /schema, exists or absent for the file\.$/,
    ],
    [
      "two things at once",
      [...WORKS.slice(0, 3), "    expect: [{ file: a, command: b }]"],
      /only one of command, file/,
    ],
    [
      "a pattern that is none",
      [...WORKS.slice(0, 3), "    expect: [{ matches: '(' }]"],
      /expected a regular expression\.$/,
    ],
    [
      "a schema that is none",
      [...WORKS.slice(0, 3), "    expect: [{ schema: { type: tree } }]"],
      /expected a JSON Schema\.$/,
    ],
    [
      "a path that leads out",
      [...WORKS, "    files: { ../a: x }"],
      /:5:14: .*expected a path in the folder of the attempt/,
    ],
    [
      "a folder that is not there",
      [...WORKS, "    folder: gone"],
      /:5:13: cases\[0\]\.folder: there is no folder .*gone;/,
    ],
    [
      "a prompt that is not there",
      ["prompts: { a: '@gone.md' }", ...WORKS],
      /:1:15: prompts\.a: there is no file .*gone/,
    ],
    ["no number of repetitions", ["repetitions: 0", ...WORKS], /:1:14: repetitions: found 0; expected a whole number/],
  ])("is refused with its line: %s", (_what, lines, message) => {
    expect(() => read(...lines)).toThrow(message);
  });

  test("reports a missing folder", () => {
    expect(() => readCases(join(folder, "gone.yaml"))).toThrow(
      /gone\.yaml: there is no file .*; name a file with text\.$/,
    );
  });

  test("may be written in a program, where a fault has no line", () => {
    expect(() => casesFrom({ cases: [{ name: "a", say: "", expect: [] }] })).toThrow(/^the cases: cases\[0\]/);
  });
});
