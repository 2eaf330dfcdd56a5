import { expect, test } from "vitest";
import { onlyReads } from "./only-reads.ts";

test.each([
  "ls",
  "ls -la src | head -5",
  "cat a.txt && git status --short",
  "git log --oneline -3 2>/dev/null",
  "rg -n oak src; find . -name '*.ts'",
  "grep -r oak < list.txt",
])("E9: %s changes no file, so no snapshot is needed", (command) => {
  expect(onlyReads(command)).toBe(true);
});

test.each([
  "",
  "ls > list.txt",
  "ls | tee list.txt",
  "rm a.txt",
  "mkdir a",
  "touch a",
  "git add -A",
  "git commit -m oak",
  "git checkout main",
  "npm test",
  "cargo build",
  "sed -i s/a/b/ a.txt",
  "sort a -o b",
  "find . -delete",
  "PAGER=./write git log",
  "cat $(rm a.txt)",
  "ls `touch b`",
  "cat a | sh",
  "env ls",
  "./ls",
  "ls & rm a",
  "echo $((PATH=x)); ls",
  "for a in *; do rm $a; done",
])("E9: %s may change files, so a snapshot precedes it", (command) => {
  expect(onlyReads(command)).toBe(false);
});
