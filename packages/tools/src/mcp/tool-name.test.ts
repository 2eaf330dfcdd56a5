import fc from "fast-check";
import { expect, test } from "vitest";
import { toolNames } from "./tool-name.ts";

const named = (server: string, tool: string) => ({ server, tool });

test("B47: a tool's name is mcp_{server}_{tool}, and _ replaces invalid characters", () => {
  expect(toolNames([named("files", "read_file"), named("my.server", "do it/ß")])).toEqual([
    "mcp_files_read_file",
    "mcp_my_server_do_it__",
  ]);
});

test("B47: two tools of a server with the same name both get a digest, in any order", () => {
  const [first, second, third] = [named("a", "b.c"), named("a", "b_c"), named("a", "d")];
  const names = toolNames([first, second, third]);
  expect(names[0]).toMatch(/^mcp_a_b_c_[0-9a-f]{8}$/);
  expect(names[1]).toMatch(/^mcp_a_b_c_[0-9a-f]{8}$/);
  expect(names[0]).not.toBe(names[1]);
  expect(names[2]).toBe("mcp_a_d");
  expect(toolNames([third, second, first])).toEqual([names[2], names[1], names[0]]);
});

test("S7: a server's tool name never takes or changes another's name, and never avoids a rule", () => {
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

test("B47: all providers accept the names, and no two tools have the same name", () => {
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
