import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { randomFrom } from "../../../packages/host/src/mcp/odd-names.fixture.ts";
import { sampleOf } from "../rule-samples.ts";
import { RuleJudge } from "./rules-of-others.ts";

test("S34: of 40 rules and matchers of three programs, each decides its call, stops the start, or is a notice", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-rules-")));
  const [folder, home] = [join(root, "folder"), join(root, "home")];
  for (const path of [folder, home]) mkdirSync(path);
  try {
    const judge = new RuleJudge({ home, folder });
    const random = randomFrom(40);
    for (let round = 0; round < 40; round++) {
      const where = (["user", "project", "flags", "claude"] as const)[round % 4] ?? "user";
      expect(await judge.judge(sampleOf(random, { home, cwd: folder }), where)).toBeUndefined();
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
