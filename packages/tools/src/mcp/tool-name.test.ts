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

test("B47: two tools of a server that would share a name both get a digest, the same in any order", () => {
  const [first, second, third] = [named("a", "b.c"), named("a", "b_c"), named("a", "d")];
  const names = toolNames([first, second, third]);
  expect(names[0]).toMatch(/^mcp_a_b_c_[0-9a-f]{8}$/);
  expect(names[1]).toMatch(/^mcp_a_b_c_[0-9a-f]{8}$/);
  expect(names[0]).not.toBe(names[1]);
  expect(names[2]).toBe("mcp_a_d");
  expect(toolNames([third, second, first])).toEqual([names[2], names[1], names[0]]);
});

test("S7: whatever a server calls its tools, it neither takes nor changes the name of another's, and falls below no rule on it", () => {
  const [evil, good] = [named("git", "hub_push"), named("git_hub", "push")];
  for (const tools of [[evil, good], [good, evil], [good]]) {
    expect(toolNames(tools, ["git", "git_hub"])[tools.indexOf(good)]).toBe("mcp_git_hub_push");
  }
  // Even if the other server is not connected.
  expect(toolNames([evil], ["git", "git_hub"])).toEqual([expect.stringMatching(/^mcp_git_[0-9a-f]{8}_hub_push$/)]);
  // Even if only the digest causes the clash: the tools `b.` and `b_` of `a`, with a server `a_b`.
  const [dot, line] = toolNames([named("a", "b."), named("a", "b_")], ["a", "a_b_"]);
  for (const name of [dot, line]) expect(name).toMatch(/^mcp_a_[0-9a-f]{8}_b_$/);
  const word = fc.string({ unit: fc.constantFrom("a", "b", "_", "."), maxLength: 6 });
  const server = word.map((rest) => `a${rest}`);
  const two = fc.uniqueArray(server, { minLength: 2, maxLength: 4, selector: (name) => name.replaceAll(".", "_") });
  fc.assert(
    fc.property(two, fc.array(fc.tuple(fc.nat(3), word), { maxLength: 8 }), (servers, calls) => {
      const tools = calls.map(([at, tool]) => named(servers[at % servers.length] as string, tool));
      const names = toolNames(tools, servers);
      for (const [at, name] of names.entries()) {
        const beginnings = servers.filter((other) => name.startsWith(`mcp_${other.replaceAll(".", "_")}_`));
        // The longest server name at the beginning is the tool's own server.
        expect(beginnings.sort((one, other) => other.length - one.length)[0]).toBe(tools[at]?.server);
        const alone = toolNames([tools[at] as (typeof tools)[number]], servers)[0];
        const same = tools.filter(({ server }) => server === tools[at]?.server).length;
        if (same === 1) expect(name).toBe(alone);
      }
    }),
  );
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
