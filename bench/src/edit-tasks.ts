import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { editTaskTables } from "./edit-tasks/table.ts";

/** Runs all tasks and writes the tables into the page about edit mode. */
const page = fileURLToPath(new URL("../../docs/edit-mode.md", import.meta.url));
const begin = "<!-- edit-tasks -->\n";
const end = "\n<!-- /edit-tasks -->";

const tables = await editTaskTables();
console.log(tables);
const text = readFileSync(page, "utf8");
writeFileSync(page, text.slice(0, text.indexOf(begin)) + begin + tables + text.slice(text.indexOf(end)));
