import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callOddNames } from "./tool-names.ts";

test.each(["listed", "call_tool"] as const)(
  "S44: rules and hooks mean a tool by its server's name and its own, whatever the names are, %s",
  async (through) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-names-")));
    const [folder, home] = [join(root, "folder"), join(root, "home")];
    for (const path of [folder, home]) mkdirSync(path);
    try {
      expect(await callOddNames({ folder, home }, 1, through)).toBeUndefined();
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
);
