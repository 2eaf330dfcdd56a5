import { describe, expect, test } from "vitest";
import { type NamedActs, namedActs, withoutContent } from "./named-acts.ts";

const nothing: NamedActs = { command: undefined, paths: [], urls: [], writes: false };

describe("S43: the arguments of a call reveal its act", () => {
  test.each<[unknown, Partial<NamedActs>]>([
    [{ path: "a" }, { paths: ["a"] }],
    [{ filePath: "a", "old-path": "b", target_file: "c", notebook_path: "d" }, { paths: ["a", "b", "c", "d"] }],
    [
      { edits: [{ file: { path: "a" } }], paths: ["b", 3, "a"] },
      { paths: ["b", "a"], writes: true },
    ],
    [
      { path: "a", content: "" },
      { paths: ["a"], writes: true },
    ],
    [{ source: "a", destination: "b" }, { paths: ["a", "b"] }],
    [{ source: "unifiedExec" }, {}],
    [{ content: "x" }, {}],
    [{ changes: { "src/a": { add: {} }, b: {} } }, { paths: ["src/a", "b"], writes: true }],
    [{ input: { patch: "--- a/x\n+++ b/y\n" } }, { paths: ["x", "y"], writes: true }],
    [{ diff: "*** Begin Patch\n*** Add File: a\n*** Move to: b\n" }, { paths: ["a", "b"], writes: true }],
    [{ uri: "file:///tmp/a%20b", other: "file:///c" }, { paths: ["/tmp/a b", "/c"] }],
    [{ url: "https://example.com", hrefs: ["http://a"] }, { urls: ["https://example.com", "http://a"] }],
    [{ command: "rm x" }, { command: "rm x" }],
    [{ cmd: ["rm", "a b"] }, { command: "rm 'a b'" }],
    [{ command: ["bash", "-lc", "rm x && ls"] }, { command: "rm x && ls" }],
    [{ command: "rm", args: ["-rf", "it's"] }, { command: "rm -rf 'it'\\''s'" }],
    [{ program: "rm", argv: ["x"] }, { command: "rm x" }],
    [{ program: "breakfast" }, {}],
    [{ commands: ["ls", "rm x"] }, { command: "ls\nrm x" }],
    [{ steps: [{ commandLine: "ls" }, { bash_command: "rm x" }] }, { command: "ls\nrm x" }],
    [{ command: "ls", cwd: "/work" }, { command: "ls" }],
    [{ command: "ls", workdir: "/etc/x y" }, { command: "cd '/etc/x y' && ls" }],
    [{ command: "" }, {}],
    [["rm", "x"], {}],
    ["rm x", {}],
    [null, {}],
    [{ path: null, command: null, line: 3 }, {}],
  ])("%j", (input, named) => {
    expect(namedActs(input, "/work")).toEqual({ ...nothing, ...named });
  });

  test("the argument reader removes file contents and descriptions at any depth", () => {
    const input = { path: "a", content: "/etc/b", title: "t.x", edits: [{ new_text: "c.d", to: "/e" }] };
    expect(withoutContent(input)).toEqual({ path: "a", edits: [{ to: "/e" }] });
  });
});
