import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { editTaskTables } from "./edit-tasks/table.ts";

const begin = "<!-- edit-tasks -->\n";
const end = "\n<!-- /edit-tasks -->";

/** Writes tables between the marks of a page. */
function write(page: string, tables: string): void {
  const file = fileURLToPath(new URL(`../../${page}`, import.meta.url));
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.slice(0, text.indexOf(begin)) + begin + tables + text.slice(text.indexOf(end)));
}

// Runs all tasks.
const { sums, each } = await editTaskTables();
console.log(`${sums}\n\n${each}`);
write("docs/edit-mode.md", sums);
write("bench/edit-tasks.md", each);
