import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { judge, permission, rules, tool } from "./call.fixture.ts";
import { writeToNamedPlaces } from "./named-places.fixture.ts";

const isLong = process.env.BANYAN_LONG === "1";
const PATHS = isLong ? 2_000 : 40;
const SEED = Number(process.env.BANYAN_SEED ?? (isLong ? Date.now() % 1_000_000 : 35));

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "banyan-places-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("S35: question, rule and written file name the same place, however the path is spelled", {
  timeout: isLong ? 600_000 : 60_000,
}, async () => {
  const { broken, asked, written, unasked } = await writeToNamedPlaces(folder, PATHS, SEED);
  expect(broken, `seed ${SEED}`).toEqual([]);
  expect(Math.min(asked, written, unasked)).toBeGreaterThan(PATHS / 8);
});

test.each([
  "~/a.txt",
  "$HOME/a.txt",
  "file:///etc/a.txt",
  "..\\a.txt",
  "src\\..\\..\\a.txt",
  "~root/a.txt",
  "C:\\a.txt",
])("S35: a server's reading of %s is unknown, so no workspace rule lets the call run unasked", async (path) => {
  const workspace = join(folder, "work");
  mkdirSync(workspace);
  const judged = permission({ workspace, home: folder, rules: rules({ allow: ["mcp_box_save(**)"] }) });
  expect((await judge(judged, tool("mcp_box_save"), { path: "src/a.txt" })).decision).toBe("allow");
  expect((await judge(judged, tool("mcp_box_save"), { path })).decision).toBe("ask");
  expect((await judge(judged, tool("mcp_box_save"), { path: "src/a.txt", to: path })).decision).toBe("ask");
});

test.each([
  ["write(~/notes/**)", "write", "~/notes/a.txt"],
  ["write($HOME/notes/**)", "write", "~/notes/a.txt"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: users write it like this
  ["write(${HOME}/notes/**)", "write", "~/notes/a.txt"],
  ["write(file:///srv/notes/**)", "write", "/srv/notes/a.txt"],
  ["mcp_box_save(src/**)", "mcp_box_save", "src\\a.txt"],
  ["mcp_box_save(~/notes/**)", "mcp_box_save", "$HOME/notes/a.txt"],
  ["mcp_box_save(/srv/**)", "mcp_box_save", "file:///srv/a.txt"],
])("S35: the rule %s forbids %s of %s", async (rule, name, path) => {
  const workspace = join(folder, "work");
  mkdirSync(workspace);
  writeFileSync(join(workspace, "a.txt"), "");
  const judged = permission({ workspace, home: folder, rules: rules({ deny: [rule] }) });
  expect((await judge(judged, tool(name), { path })).decision).toBe("deny");
});
