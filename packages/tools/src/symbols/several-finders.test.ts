import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { expect, test, vi } from "vitest";
import { SymbolFinder } from "./finder.ts";

// In a file of its own: tree-sitter must not be loaded yet.
test("finders that start at the same time do not get in each other's way, and load each grammar once", async () => {
  const readFile = vi.spyOn(files, "readFile");
  syncBuiltinESMExports();
  const finders = [new SymbolFinder(), new SymbolFinder()];
  const reading = Array.from({ length: 4 }, async (_, n) => {
    const finder = finders[n % 2]!;
    const long = `let list = [${"1,".repeat(20_000)}];\nlet x${n};\n`;
    const [typescript, python] = await Promise.all([
      finder.read(long, "typescript"),
      finder.read(`x${n} = 1\n`, "python"),
    ]);
    return [typescript.find(`x${n}`).start, python.find(`x${n}`).start];
  });
  expect(await Promise.all(reading)).toEqual(Array.from({ length: 4 }, () => [2, 1]));
  const loaded = readFile.mock.calls.map(([file]) => /tree-sitter-(\w+)\.wasm$/.exec(String(file))?.[1]);
  expect(loaded.filter((name) => name !== undefined).sort()).toEqual(["python", "python", "typescript", "typescript"]);
  readFile.mockRestore();
  syncBuiltinESMExports();
});
