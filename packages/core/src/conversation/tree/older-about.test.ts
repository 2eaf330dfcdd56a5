import { expect, test } from "vitest";
import type { EventBody } from "../event.ts";
import type { About } from "../message.ts";
import type { Json } from "../part.ts";
import { emptyConversation } from "../state.ts";
import { reduce } from "./reduce.ts";

/** Returns the subject of a call in the state of a log. */
function aboutIn(tool: string, input: Json | undefined, said?: About): About | undefined {
  const state = emptyConversation();
  const call = { message: "a", call: "c", tool, inputText: JSON.stringify(input) ?? "{" } as const;
  const log: EventBody[] = [
    { type: "message.started", message: "a", parentId: null, run: "r", model: "m" },
    { type: "call.pending", ...call, ...(input !== undefined && { input }), ...(said && { about: said }) },
  ];
  for (const [index, event] of log.entries()) reduce(state, { ...event, seq: index + 1, epoch: 1, at: 0 });
  const answer = state.messages.get("a");
  return answer?.role === "assistant" ? answer.calls[0]?.about : undefined;
}

test.each<[string, Json, About]>([
  ["shell", { command: "npm test" }, { command: "npm test" }],
  ["read", { path: "a" }, { paths: [{ path: "a", access: "read" }], looksAt: { one: "file", several: "files" } }],
  ["list", {}, { looksAt: { one: "folder", several: "folders" } }],
  ["search", { pattern: "x", path: "a" }, { title: "x", looksAt: { one: "search", several: "searches" } }],
  ["write", { path: "a", content: "" }, { paths: [{ path: "a", access: "write" }], change: { comes: "content" } }],
  ["edit_mode", { file_path: "a" }, { paths: [{ path: "a", access: "write" }] }],
  ["launch_agent", { task: "count", agent: "reviewer" }, { title: "count", agent: "reviewer" }],
  ["finish_task", { result: 3 }, { result: "result" }],
])("H8: a log from before tools declared their acts looks the same: %s", (tool, input, about) => {
  expect(aboutIn(tool, input)).toEqual(about);
});

test("H8: the tool's own declaration precedes, whatever its name", () => {
  expect(aboutIn("shell", { command: "npm test" }, { title: "a test" })).toEqual({ title: "a test" });
});

test.each([undefined, null, "text", [1], { command: 3 }])("H8: arguments %j reveal nothing in an old log", (input) => {
  expect(aboutIn("shell", input) ?? {}).toEqual({});
  expect(aboutIn("look", input)).toBeUndefined();
});
