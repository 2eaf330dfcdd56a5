import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { judge, permission, tool } from "../call.fixture.ts";
import type { ApprovalMode } from "../rule.ts";
import { sessions } from "./sessions.fixture.ts";

const workspace = mkdtempSync(join(tmpdir(), "banyan-sessions-"));
mkdirSync(join(workspace, "src"));
afterAll(() => rmSync(workspace, { recursive: true }));

/** The number of questions to a user who answers "always" if possible. */
async function questions(name: string, mode: ApprovalMode): Promise<number> {
  const judging = permission({ workspace, mode });
  const always: string[] = [];
  let asked = 0;
  for (const [called, main] of sessions[name] ?? []) {
    const of = tool(called, called === "read" ? "none" : "external");
    const permit = await judge(judging, of, called === "shell" ? { command: main } : { path: main }, always);
    if (permit.decision !== "ask") continue;
    asked++;
    if (permit.pattern !== undefined) always.push(permit.pattern);
  }
  return asked;
}

// Before: with the rules before S18 and S24.
test.each([
  ["a small fix", "ask", 10, 11],
  ["a small fix", "edits", 9, 10],
  ["a refactoring of ten files", "ask", 18, 27],
  ["a refactoring of ten files", "edits", 16, 25],
  ["a test-and-fix loop", "ask", 10, 21],
  ["a test-and-fix loop", "edits", 9, 20],
] as const)("S24: %s in mode %s asks %d times, before it was %d", async (name, mode, asked, before) => {
  expect(await questions(name, mode)).toBe(asked);
  expect(asked).toBeLessThanOrEqual(before);
});
