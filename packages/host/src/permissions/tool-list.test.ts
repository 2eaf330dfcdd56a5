import { expect, test } from "vitest";
import { z } from "zod";
import { tool } from "./call.fixture.ts";
import { absentInLists, toolList, withToolsMeant } from "./tool-list.ts";

const agent = (tools: readonly string[]) => ({ name: "mine", description: "", instructions: "", tools });
const offered = (server: string, name: string) => ({
  ...tool(`mcp_${server}_${name}`),
  offeredBy: server,
  offeredAs: name,
});

test("S34: a list of tools has Banyan's names, Claude Code's names, and MCP names", () => {
  const there = [tool("read"), tool("edit"), tool("search"), offered("g", "read_only"), offered("g", "look")];
  const meant = (...tools: string[]) => withToolsMeant(agent(tools), () => there, ["g", "a", "a__b"]).tools;
  expect(meant("Read", "Grep", "edit", "NotebookEdit")).toEqual(["read", "search", "edit"]);
  // Of the tools for edits, only `edit` exists.
  expect(meant("Edit", "apply_patch")).toEqual(["edit"]);
  expect(meant("mcp__g__read_only")).toEqual(["mcp_g_read_only"]);
  expect(meant("mcp__g")).toEqual(["mcp_g_read_only", "mcp_g_look"]);
  expect(meant("mcp__absent__x")).toEqual([]);
  // For an unknown tool, core's error lists the existing tools.
  expect(meant("fetch")).toEqual(["fetch"]);
});

test("S34: an impossible name is refused, and a name of other programs causes a notice", () => {
  const list = toolList(z.array(z.string()));
  expect(list.safeParse(["read", "Bsh"]).error?.issues).toMatchObject([
    { path: [1], message: expect.stringContaining("names of tools: 'Bsh' is not a tool; you may mean 'Bash'") },
  ]);
  expect(list.safeParse(["Bash(git *)"]).error?.issues).toHaveLength(1);
  expect(absentInLists([agent(["Read", "NotebookEdit"])])).toEqual([
    "The agent mine cannot use NotebookEdit: Banyan has no such tool.",
  ]);
});
