import fc from "fast-check";
import { expect, test } from "vitest";
import { toolNames } from "./tool-name.ts";

const named = (server: string, tool: string) => ({ server, tool });

test("B47: a tool is called mcp_{server}_{tool}, with what no name may hold as _", () => {
  expect(toolNames([named("files", "read_file"), named("my.server", "do it/ß")])).toEqual([
    "mcp_files_read_file",
    "mcp_my_server_do_it__",
  ]);
});

test("B47: two tools that would share a name both get a digest, the same in any order", () => {
  const [first, second, third] = [named("a", "b_c"), named("a_b", "c"), named("a", "d")];
  const names = toolNames([first, second, third]);
  expect(names[0]).toMatch(/^mcp_a_b_c_[0-9a-f]{8}$/);
  expect(names[1]).toMatch(/^mcp_a_b_c_[0-9a-f]{8}$/);
  expect(names[0]).not.toBe(names[1]);
  expect(names[2]).toBe("mcp_a_d");
  expect(toolNames([third, second, first])).toEqual([names[2], names[1], names[0]]);
});

test("B47: names are what every provider takes, and no two tools share one", () => {
  const tools = fc.uniqueArray(fc.record({ server: fc.string(), tool: fc.string({ maxLength: 100 }) }), {
    selector: ({ server, tool }) => JSON.stringify([server, tool]),
  });
  fc.assert(
    fc.property(tools, (some) => {
      const names = toolNames(some);
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(new Set(names).size).toBe(some.length);
    }),
  );
});
