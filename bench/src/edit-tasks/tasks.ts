import { markdown, minified, nameOf, python, typescript, yaml } from "./sources.ts";
import { type Edit, eachLine, fileOf, newFile, type Task, type TaskFile } from "./task.ts";

const replace = (start: number, end: number, ...lines: string[]): Edit => ({ start, end, lines });
const insert = (start: number, ...lines: string[]): Edit => ({ start, end: start, lines });
const remove = (start: number, end: number): Edit => ({ start, end, lines: [] });
const task =
  (kind: string) =>
  (name: string, ...files: TaskFile[]): Task => ({ kind, name, files });

const small = task("small change in a large file");
const many = task("many changes");
const fresh = task("new file");
const deletion = task("deletion");
const page = task("Markdown with fences");

const large = typescript(160);
const signature = large[988] ?? "";
const css = minified(60);
const crlf = () => "\r\n";

const SMALL: readonly Task[] = [
  small(
    "one number in a line of 1,900",
    fileOf("src/stock.ts", large, [replace(989, 990, signature.replace("limit = 584", "limit = 600"))]),
  ),
  small(
    "three lines of a function, in a file with CRLF",
    fileOf(
      "src/stock.ts",
      large,
      [
        replace(
          825,
          828,
          `  for (const { count } of ${nameOf(68)}Rows) {`,
          "    if (count < 0) throw new RangeError('A negative count in the stock');",
          "    if (count > limit) continue;",
          "    total += count;",
        ),
      ],
      { end: crlf },
    ),
  ),
  small("one of 60 lines that are the same", fileOf("deploy.yaml", yaml(60), [replace(297, 298, "  replicas: 6")])),
  small(
    "one number in a line of 2,700 characters",
    fileOf("dist/site.css", [css], [replace(1, 2, css.replace("margin:31px", "margin:32px"))]),
  ),
  small(
    "a check at the top of a method, in a file with a byte-order mark",
    fileOf("stock.py", python(90), [insert(506, "        if not self.id:", '            raise ValueError("no id")')], {
      mark: "\ufeff",
    }),
  ),
  small("the missing end of the last line", {
    ...fileOf("src/stock.ts", typescript(40), [], { open: true }),
    ...ended(typescript(40)),
  }),
];

/** A task that only adds the end of the last line: the line is rewritten. */
function ended(lines: readonly string[]): Pick<TaskFile, "wanted" | "edits"> {
  const last = lines.length;
  return { wanted: `${lines.join("\n")}\n`, edits: [replace(last, last + 1, lines[last - 1] ?? "")] };
}

const twenty = typescript(20);
const forty = python(40);

const MANY: readonly Task[] = [
  many(
    "a variable renamed in 80 lines",
    fileOf(
      "src/stock.ts",
      twenty,
      eachLine(twenty, (line) => line.replace(/\btotal\b/g, "sum")),
    ),
  ),
  many(
    "one more parameter in 20 signatures",
    fileOf(
      "src/stock.ts",
      twenty,
      eachLine(twenty, (line) => line.replace(/^(export function .*)\): number/, "$1, strict = false): number")),
    ),
  ),
  many(
    "half of all lines",
    fileOf(
      "src/stock.ts",
      twenty,
      eachLine(twenty, (line) => line.replace(/\b(id|text|row|count)\b/g, "$1_")),
    ),
  ),
  many(
    "two lines in each of 40 methods",
    fileOf(
      "stock.py",
      forty,
      eachLine(forty, (line) =>
        line === "    def run(self):" ? "    def run(self) -> int:" : line.replace("return sum(", "return total("),
      ),
    ),
  ),
  many(
    "an import and its uses, in two files",
    fileOf("src/a.ts", twenty, [
      replace(2, 3, 'import { note } from "./note.ts";'),
      ...eachLine(twenty, (line) => line.replace("  log(", "  note(")),
    ]),
    fileOf("src/b.ts", typescript(6), [
      insert(3, 'import { note } from "./note.ts";'),
      replace(13, 14, '  note("loadOrder", total);'),
    ]),
  ),
  many(
    "eight loops, in a file with mixed line ends",
    fileOf(
      "src/stock.ts",
      typescript(8),
      Array.from({ length: 8 }, (_, n) => {
        const at = n * 12 + 9;
        return replace(
          at,
          at + 4,
          `  for (const { count } of ${nameOf(n)}Rows) {`,
          "    if (count > limit) continue;",
          "    total += count;",
          "  }",
        );
      }),
      { end: (line) => (line % 3 === 1 ? "\r\n" : "\n") },
    ),
  ),
];

const NEW: readonly Task[] = [
  fresh(
    "ten lines of JSON",
    newFile(
      "tsconfig.json",
      JSON.stringify(
        { compilerOptions: { strict: true, target: "es2024", module: "nodenext", noEmit: true }, include: ["src"] },
        null,
        2,
      ).split("\n"),
    ),
  ),
  fresh("250 lines of TypeScript", newFile("src/stock.ts", typescript(21))),
  fresh("100 lines of Python", newFile("stock.py", python(9))),
  fresh(
    "a script full of quotes and backslashes",
    newFile("rename.sh", [
      "#!/bin/sh",
      ...Array.from(
        { length: 20 },
        (_, n) => `find . -name "*.${nameOf(n)}" -exec sed -i "s/\\\\(${nameOf(n)}\\\\)\\"/'\\\\1\\\\n'/g" {} \\;`,
      ),
    ]),
  ),
  fresh(
    "80 lines indented by tabs",
    newFile("stock.go", [
      "package stock",
      "",
      ...Array.from({ length: 13 }, (_, n) => [
        `func ${nameOf(n)}(id string) int {`,
        '\tif id == "" {',
        "\t\treturn 0",
        "\t}",
        `\treturn ${n}`,
        "}",
      ]).flat(),
    ]),
  ),
  fresh("two files", newFile("src/a.ts", typescript(5)), newFile("src/b.ts", typescript(7))),
];

const logs = typescript(30);

const DELETION: readonly Task[] = [
  deletion("one line", fileOf("src/stock.ts", large, [remove(613, 614)])),
  deletion("a function of 12 lines", fileOf("src/stock.ts", large, [remove(604, 616)])),
  deletion("20 functions, 240 lines", fileOf("src/stock.ts", large, [remove(604, 844)])),
  deletion(
    "30 scattered lines",
    fileOf(
      "src/stock.ts",
      logs,
      eachLine(logs, (line) => (line.startsWith("  log(") ? undefined : line)),
    ),
  ),
  deletion(
    "the last lines of a file whose last line has no end",
    fileOf("src/stock.ts", typescript(40), [remove(472, 484)], { open: true }),
  ),
  deletion(
    "the second of two functions that are the same",
    fileOf("src/stock.ts", [...typescript(10), ...typescript(10).slice(3)], [remove(136, 148)]),
  ),
];

const guide = markdown(20);

const PAGES: readonly Task[] = [
  page(
    "a line of an example",
    fileOf("README.md", guide, [replace(110, 111, `const total = ${nameOf(10)}("W11", 40);`)]),
  ),
  page(
    "a section with an example",
    fileOf("README.md", guide, [insert(103, "## Install", "", "```sh", "npm install warehouse", "```", "")]),
  ),
  page("a new page with six examples", newFile("docs/guide.md", markdown(6))),
  page(
    "an example within an example",
    fileOf("README.md", guide, [replace(7, 12, "````md", "# Use", "", "```js", `${nameOf(0)}("W1");`, "```", "````")]),
  ),
  page("an example deleted", fileOf("README.md", guide, [remove(107, 113)])),
  page(
    "the language of 20 examples",
    fileOf(
      "README.md",
      guide,
      eachLine(guide, (line) => (line === "```js" ? "```ts" : line)),
    ),
  ),
];

/** Thirty tasks, six of each kind. */
export const tasks: readonly Task[] = [...SMALL, ...MANY, ...NEW, ...DELETION, ...PAGES];
