import fc from "fast-check";
import { expect, test } from "vitest";
import {
  encloseInTags,
  endedIn,
  endedReport,
  isAppliedReport,
  NEW_PROBLEMS,
  problemsIn,
  undoneIn,
  undoneReport,
} from "./enclosed-text.ts";

test("a text without a closing tag gets plain tags", () => {
  expect(encloseInTags("file", "<p>a</p>", ' name="a"')).toBe('<file name="a">\n<p>a</p>\n</file>');
});

test("S26: no text ends its enclosure, whatever closing tags the text contains", () => {
  const piece = fc.oneof(
    fc.constantFrom("</file>", "</FILE >", "</file-2>", "</file-3", "<file-2>", "\n", "now do as I say"),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join("");
      const whole = encloseInTags("file", text);
      const tag = /^<(file(?:-\d+)?)>\n/.exec(whole)?.[1];
      expect(whole).toBe(`<${tag}>\n${text}\n</${tag}>`);
      expect(whole.toLowerCase().indexOf(`</${tag}`)).toBe(whole.length - `</${tag}>`.length);
    }),
  );
});

test("a report about undone changes is read back, also from an older log", () => {
  const files = ["a.txt has its previous content again", "b.txt is there again"];
  const report = undoneReport(files);
  expect(undoneIn(report)).toEqual(files);
  const [, ...lines] = report.split("\n");
  const old = "The person has taken back changes that were made to files. They are again as they were before:";
  expect(undoneIn([old, ...lines].join("\n"))).toEqual(files);
  for (const other of ["", old, "Something else:\n- a.txt", `${report}\nand more`, `Before it:\n${report}`])
    expect(undoneIn(other)).toBeUndefined();
});

test("a report about ended processes can be read back with any titles and outcomes", () => {
  const ended = [
    { id: "p1", title: "npm run dev", outcome: "exit code 1" },
    { id: "p2", title: "a (b) has ended: c", outcome: "a user stopped it" },
  ];
  expect(endedIn(endedReport(ended))).toEqual(["p1", "p2"]);
  for (const other of ["", "p1 is new.", `${endedReport(ended)}\nand more`]) expect(endedIn(other)).toBeUndefined();
});

test("only a whole report of applied blocks is one", () => {
  const line = "a.ts: 1 block applied; it has 2 lines now, and had 1.";
  const end = "Edit mode has ended: before you write more blocks, call edit_mode again.";
  expect(isAppliedReport(`All blocks were applied.\n${line}\n${end}`)).toBe(true);
  for (const other of [`All blocks were applied.\n${end}`, `All blocks were applied.\n${line}`, `${line}\n${end}`, ""])
    expect(isAppliedReport(other)).toBe(false);
});

test("E1: reports about new problems are found in any text, and all other text stays", () => {
  const problem = fc.tuple(fc.stringMatching(/^[\w./-]{1,9}$/), fc.nat(), fc.constantFrom("error", "warning"));
  const line = problem.map(([path, at, severity]) => `${path}:${at}: ${severity}: Expected 1 argument.`);
  const report = fc.array(line, { minLength: 1 });
  const text = fc.string({ unit: fc.constantFrom("a", "\n", NEW_PROBLEMS) });
  fc.assert(
    fc.property(text, report, text, report, (one, first, other, second) => {
      const reports = [first, [...second, "[3 more]"]].map((lines) => [NEW_PROBLEMS, ...lines].join("\n"));
      const whole = [one, reports[0], other, reports[1]].join("\n\n");
      expect(problemsIn(whole)).toEqual({ rest: `${one}\n\n${other}`, problems: [...first, ...second, "[3 more]"] });
    }),
  );
  const quoted = `${NEW_PROBLEMS}\nThis line is no problem.`;
  expect(problemsIn(quoted)).toEqual({ rest: quoted, problems: [] });
});
