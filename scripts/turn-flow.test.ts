import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const page = readFileSync(new URL("../docs/how-a-turn-flows.md", import.meta.url), "utf8");
const named = [...new Set(page.match(/\b(?:cli|core|host|protocol|server|store|web)\/src\/[\w/.-]+\.ts\b/g))];

test.each(named)("docs/how-a-turn-flows.md names %s, which is there", (file) => {
  expect(existsSync(fileURLToPath(new URL(`../packages/${file}`, import.meta.url)))).toBe(true);
});

test("docs/how-a-turn-flows.md names files of the way from a command to the disk and to a view", () => {
  expect(named.length).toBeGreaterThan(25);
});
