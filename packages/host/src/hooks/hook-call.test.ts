import type { Json, Tool } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { workspaceTools } from "@banyan/tools/workspace";
import { describe, expect, test } from "vitest";
import { formsFor, hookCalls } from "./hook-call.ts";

const OWN = workspaceTools({ root: "/work" });
const own = (name: string) => OWN.find((tool) => tool.name === name) as Tool;
const made = (name: string, about: About, more: Partial<Tool>): Tool => ({
  name,
  description: "",
  input: { type: "object" },
  effects: "external",
  about: () => about,
  execute: () => "",
  ...more,
});
const agents = (about: About, files?: "read" | "write") =>
  made("claude_act", about, { offeredBy: "claude", asAsked: true, files });
const servers = (about: About) => made("mcp_x_do", about, { offeredBy: "x", offeredAs: "do" } as Partial<Tool>);

/** Returns the input that hooks with a matcher get for a call. */
function heard(matcher: string, tool: Tool, input: Json) {
  const isFor = (names: readonly string[]) => names.some((name) => new RegExp(`^(?:${matcher})$`).test(name));
  return formsFor(hookCalls(tool, input, "/work"), tool, isFor).map(({ nameFor, tool_input }) => {
    const { file_path, command } = tool_input as Record<string, unknown>;
    return [nameFor(isFor), file_path ?? command];
  });
}

const both: About = { paths: ["a", "/b"].map((path) => ({ path, access: "write" })) };

describe("S43: hooks on an act run for all callers", () => {
  test.each<[string, Tool, Json, unknown]>([
    ["Bash", own("shell"), { command: "ls" }, [["Bash", "ls"]]],
    ["shell", own("shell"), { command: "ls" }, [["Bash", "ls"]]],
    ["Write", own("edit"), { path: "a", old_text: "x", new_text: "y" }, [["Write", "/work/a"]]],
    ["Edit|Write", own("write"), { path: "a", content: "x" }, [["Write", "/work/a"]]],
    ["Read", own("read"), { path: "a" }, [["Read", "/work/a"]]],
    ["list", own("list"), { path: "a" }, [["list", undefined]]],
    ["Bash", agents({ command: "rm x" }), { command: "rm x" }, [["Bash", "rm x"]]],
    ["Bash", agents({ untold: "command" }), {}, [["Bash", undefined]]],
    [
      "Edit",
      agents(both, "write"),
      {},
      [
        ["Edit", "/work/a"],
        ["Edit", "/b"],
      ],
    ],
    ["Write", agents({ untold: "files" }, "write"), {}, [["Write", undefined]]],
    ["Read", agents({ paths: [{ path: "a", access: "read" }] }, "read"), {}, [["Read", "/work/a"]]],
    ["Bash", agents({ untold: "act" }), {}, [["Bash", undefined]]],
    ["claude_act", agents({ command: "ls" }), { command: "ls" }, [["Bash", "ls"]]],
    ["Bash", servers({ command: "ls" }), {}, [["Bash", "ls"]]],
    [
      "Write|Edit",
      servers(both),
      {},
      [
        ["Edit", "/work/a"],
        ["Edit", "/b"],
      ],
    ],
    ["Read", servers({ paths: [{ path: "a", access: "write" }] }), {}, [["Read", "/work/a"]]],
    ["Read", agents({ paths: [{ path: "a", access: "write" }] }, "write"), {}, []],
    ["mcp__x__do", servers(both), { path: "a" }, [["mcp__x__do", undefined]]],
    [".*", servers(both), {}, [["mcp__x__do", undefined]]],
    ["WebFetch", servers({ url: "https://example.com" }), {}, [["WebFetch", undefined]]],
    ["Bash", agents(both, "write"), {}, []],
    ["Bash", servers({}), {}, []],
  ])("%s, %o of %j", (matcher, tool, input, told) => {
    expect(heard(matcher, tool, input)).toEqual(told);
  });

  test("a hook's changes go into the argument with the act, or nowhere", () => {
    const [write] = hookCalls(own("write"), { path: "a", content: "x" }, "/work");
    expect(write?.own({ file_path: "/work/b", content: "y" })).toEqual({ path: "/work/b", content: "y" });
    expect(write?.own({ file_path: "/work/a", path: "a", content: "y" })).toEqual({ path: "a", content: "y" });
    const input = { files: [{ path: "a" }] };
    const nested = hookCalls(servers({ paths: [{ path: "a", access: "write" }] }), input, "/work").at(-1);
    expect(nested?.own({ ...input, file_path: "/work/a" })).toEqual(input);
    expect(nested?.own({ ...input, file_path: "/work/b" })).toBeUndefined();
  });
});
