import { emptyConversation, type FeedItem, newestLeaf, reduce } from "@banyan/core/conversation";
import { expect, test } from "vitest";
import { createTheme } from "../theme/theme.ts";
import { branchPage } from "../transcript/message-lines.ts";
import { agentFacts, subAgents } from "./agent-list.ts";

const state = emptyConversation();
let seq = 0;
const happens = (item: object) => reduce(state, { seq: ++seq, epoch: 1, at: seq * 1_000, ...item } as FeedItem);
const launches = (message: string, call: string, task: string) => {
  const input = { task };
  happens({ type: "call.pending", message, call, tool: "launch_agent", inputText: JSON.stringify(input), input });
  happens({ type: "call.executing", message, call, attempt: 1, key: "k" });
};
const task = (message: string, call: string, text: string) =>
  happens({
    type: "message.added",
    message,
    parentId: null,
    role: "user",
    author: "tool",
    call,
    parts: [{ type: "text", text }],
  });
const answers = (message: string, parentId: string, call?: string) =>
  happens({ type: "message.started", message, parentId, run: "r", model: "m", ...(call && { call }) });

test("T30: sub-agents are listed with their status, nested ones set in; a transcript follows what they say", () => {
  happens({
    type: "message.added",
    message: "u",
    parentId: null,
    role: "user",
    author: "user",
    parts: [{ type: "text", text: "go" }],
  });
  answers("a", "u");
  launches("a", "c1", "read the docs");
  task("t1", "c1", "Read the docs.");
  answers("s1", "t1", "c1");
  launches("s1", "c2", "read one page");
  task("t2", "c2", "Read one page.");
  answers("s2", "t2", "c2");

  expect(subAgents(state).map(({ number, title, depth }) => [number, title, depth])).toEqual([
    [1, "read the docs", 0],
    [2, "read one page", 1],
  ]);
  expect(subAgents(state).map((agent) => agentFacts(agent, 12_000))).toEqual([
    "running, 8.0 s, 1 call",
    "running, 4.0 s, 0 calls",
  ]);

  const page = branchPage("read one page", state, () => newestLeaf(state, "t2"));
  const seen = () => page.lines(40, createTheme(1, "dark"));
  expect(seen()).toEqual(["❯ Read one page.", ""]);
  const delta = { type: "text.delta", message: "s2", part: 0, run: "r2", agent: "agent", depth: 2 } as const;
  reduce(state, { ...delta, seq, epoch: 1, offset: 1, text: "It says **yes**." });
  expect(seen()).toEqual(["❯ Read one page.", "", "It says yes."]);

  launches("s2", "c3", "x");
  happens({ type: "call.approval-requested", message: "s2", call: "c3", question: "q" });
  expect(subAgents(state)[1]?.status).toBe("asks you");
  happens({ type: "call.completed", message: "a", call: "c1", output: "done" });
  expect(subAgents(state)[0]?.status).toBe("done");
});
