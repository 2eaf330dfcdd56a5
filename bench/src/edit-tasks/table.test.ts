import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ways } from "./answers.ts";
import { play } from "./play.ts";
import { editTaskTables } from "./table.ts";
import { tasks } from "./tasks.ts";

test("the tables of docs/edit-mode.md and bench/edit-tasks.md are the results of the tasks", async () => {
  const { sums, each } = await editTaskTables();
  expect([tablesOf("docs/edit-mode.md"), tablesOf("bench/edit-tasks.md")]).toEqual([sums, each]);
});

/** Returns the tables that `node bench/src/edit-tasks.ts` wrote into a page. */
function tablesOf(page: string): string | undefined {
  const text = readFileSync(new URL(`../../../${page}`, import.meta.url), "utf8");
  return /<!-- edit-tasks -->\n([\s\S]*)\n<!-- \/edit-tasks -->/.exec(text)?.[1];
}

test("thirty tasks, each with something to do", () => {
  expect(tasks).toHaveLength(30);
  expect([...Map.groupBy(tasks, ({ kind }) => kind).values()].map((of) => of.length)).toEqual([6, 6, 6, 6, 6]);
  for (const { files } of tasks) for (const { before, wanted } of files) expect(wanted).not.toBe(before);
});

test("wrong bytes and failures are seen", async () => {
  const [task] = tasks;
  const [editMode] = ways;
  if (!task || !editMode) throw new Error("There is no task.");
  const wrong = {
    name: "wrong",
    answer: () => [{ text: "", calls: [{ tool: "edit", input: { path: "no", old_text: "x", new_text: "y" } }] }],
  };
  const was = task.files[0]?.before?.split("\n") ?? [];
  const missing = task.files[0]?.wanted.split("\n").find((line) => !was.includes(line)) ?? "";
  expect(await play(task, wrong)).toMatchObject({
    failures: 1,
    steps: 1,
    wrongBytes: missing.length + 1,
  });
  expect(await play(task, editMode)).toMatchObject({ failures: 0, steps: 2, wrongBytes: 0 });
});
