import { Agent, type Call, Session } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { workspaceTools } from "../index.ts";
import { TestFolder } from "../test-folder.fixture.ts";

/** Returns results of `read` and `search` after a summary of five turns, in the folder. */
async function lookBack(folder: TestFolder, ...calls: ReturnType<typeof call>[]): Promise<readonly Call[]> {
  folder.add("gate.txt", `${"grass\n".repeat(400)}a hidden gate\n`);
  const model = scriptedModel([
    "Because ".padEnd(2_000, "it is warm, "),
    [call("read", { path: "gate.txt" }, "c-read")],
    ...["Two.", "Three.", "Four.", "Five.", "Sum."],
    calls,
    "Done.",
  ]);
  const agent = new Agent({ model, tools: workspaceTools({ root: folder.root }) });
  const session = Session.inMemory();
  for (const said of ["Use figs only.", "Two?", "Three?", "Four?", "Five?"]) await agent.send(said, { session });
  expect(await agent.compact({ session })).toBeUndefined();
  await agent.send("What was it?", { session });
  const messages = [...session.state.messages.values()];
  return messages.flatMap((message) => (message.role === "assistant" ? message.calls : [])).slice(1);
}

describe("F98: read and search accept addresses of messages that a summary covers", () => {
  test("read: the list, a message, a result, and a part of it by its lines", async () => {
    using folder = new TestFolder();
    const calls = await lookBack(
      folder,
      call("read", { path: "earlier:" }),
      call("read", { path: "earlier:#1" }),
      call("read", { path: "earlier:c-read", start: 402, end: 402 }),
      call("read", { path: "earlier:#77" }),
    );
    const outputs = calls.map(({ output = "" }) => output);
    expect(outputs[0]).toMatch(
      /^1\t\[You see none or only a part of \d+ messages and \d+ results?\. .*\]\n2\tearlier:#1 the user: Use figs only\.\n/,
    );
    expect(outputs[0]).toMatch(/\tearlier:c-read result of read gate\.txt \(completed\), [\d,]+ characters\n/);
    expect(outputs[1]).toBe(
      "1\t[Message 1 of this conversation, from before the summary, by the user.]\n2\tUse figs only.\n",
    );
    expect(outputs[2]).toBe("402\t401\ta hidden gate\n");
    expect(outputs[3]).toMatch(/^The tool failed: This branch has only \d+ messages, so there is no message 77\./);
    // No file was seen, and the call concerns no file.
    for (const { about, seen = [] } of calls) expect([about?.paths, seen]).toEqual([[], []]);
  });

  test("search: everything before the summary, or one message; a wrong pattern and a glob are refused", async () => {
    using folder = new TestFolder();
    const calls = await lookBack(
      folder,
      call("search", { pattern: "hidden gate|figs", path: "earlier:" }),
      call("search", { pattern: "figs", path: "earlier:c-read" }),
      call("search", { pattern: "x", path: "earlier:", glob: "*.ts" }),
      call("search", { pattern: "(", path: "earlier:" }),
    );
    expect(calls.map(({ output }) => output)).toEqual([
      "earlier:#1:2:Use figs only.\nearlier:c-read:402:401\ta hidden gate\n",
      "[no matches]\n",
      "The tool failed: A glob matches file names, but earlier: contains no files. Leave the glob out.",
      expect.stringMatching(/^The tool failed: The pattern is not a valid regular expression/),
    ]);
  });

  test("a file of such a name is read as ./earlier:#1, and rules on its path hold for it", async () => {
    using folder = new TestFolder({ "earlier:#1": "a file\n" });
    const calls = await lookBack(folder, call("read", { path: "./earlier:#1" }));
    expect(calls[0]).toMatchObject({ output: "1\ta file\n", about: { paths: [{ path: "./earlier:#1" }] } });
  });

  test("no byte of the tool list changes", () => {
    using folder = new TestFolder();
    const { ready } = new Agent({ model: scriptedModel([]), tools: workspaceTools({ root: folder.root }) });
    const [read, , search] = ready.toolbox.schemas;
    expect(JSON.stringify([read, search])).toBe(BEFORE);
  });
});

/** The schemas of `read` and `search` before they took addresses. */
const BEFORE =
  '[{"name":"read","description":"Reads a text file, picture or PDF. Lines come as number, tab, text; at most 2000 lines or 60000 bytes.","input":{"type":"object","properties":{"path":{"type":"string","description":"Relative to the workspace."},"start":{"description":"First line. Default 1.","type":"integer","minimum":1},"end":{"description":"Last line.","type":"integer","minimum":1}},"required":["path"]}},{"name":"search","description":"Searches text files. Returns `path:line:text` for each matching line. Skips binary files and files that .gitignore excludes.","input":{"type":"object","properties":{"pattern":{"type":"string","description":"Regular expression, for each line; case-sensitive unless it begins with (?i)."},"path":{"description":"Default: the workspace.","type":"string"},"glob":{"description":"For names, as `*.ts`, or for paths, as `src/**/*.ts`.","type":"string"}},"required":["pattern"]}}]';
