import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer, type ServerRequest, shell } from "../testing/model-server.ts";
import { connected, serving, TOKEN } from "../testing/serving.ts";

/** Signals that end a server, in order. */
const ENDS = [["SIGKILL"], ["SIGTERM"], ["SIGINT"], ["SIGTERM", "SIGTERM"]] as const;
const ends = ENDS.map((signals) => ({ signals, how: signals.join(" and ") }));

const LOCATE = { name: "locate", description: "Where somebody is.", parameters: { type: "object", properties: {} } };

/** The model makes the call that the user names, and finishes after its result. */
function answerTo({ messages }: ServerRequest) {
  const said = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content);
  if (messages.at(-1)?.role === "tool") return { text: "All done." };
  return said.includes("locate") ? { calls: [{ tool: "locate", input: {} }] } : shell(`echo ${said} >> ran.txt`);
}

/** Any JSON value from a server. */
// biome-ignore lint/suspicious/noExplicitAny: three protocols, of which the test names what it looks at.
type Sent = any;

/** The response of a door: the events of a stream, or one object. */
async function post(address: string, path: string, body: object): Promise<Sent[]> {
  const response = await fetch(`${address}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  if (!response.headers.get("content-type")?.includes("event-stream")) return [JSON.parse(text)];
  const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice("data: ".length)));
}

test.each(ends)(
  "F72: after $how of `banyan serve` AG-UI, useChat and /v1 answer what waited there, the calls run once, and the turns end",
  async ({ signals }) => {
    using place = home();
    await using model = await modelServer(answerTo);
    const [first, before] = await serving(place, model.env);
    const run = { threadId: "thread", runId: "1", context: [], tools: [] };
    const said = { id: "said", role: "user", content: "by-ag-ui" };
    const events = await post(before, "/api/ag-ui", { ...run, messages: [said] });
    const [interrupt] = events.at(-1).outcome.interrupts;
    const parts = [{ type: "text", text: "by-chat" }];
    const chunks = await post(before, "/api/chat", { id: "chat", messages: [{ id: "asked", role: "user", parts }] });
    const { approvalId } = chunks.find(({ type }) => type === "tool-approval-request");
    const { messageId } = chunks.find(({ type }) => type === "start");
    const functions = { model: "banyan", tools: [{ type: "function", function: LOCATE }] };
    const messages = [{ role: "user", content: "locate" }];
    const [completion] = await post(before, "/v1/chat/completions", { ...functions, messages });
    const [call] = completion.choices[0].message.tool_calls;

    const exit = once(first, "exit");
    for (const signal of signals) first.kill(signal);
    await exit;
    const [, after] = await serving(place, model.env);
    const client = await connected(after);
    const { waiting } = await client.ask("question.list", {});
    expect(waiting).toHaveLength(3);
    const ids = waiting.map(({ question }) => question.id);
    expect(ids).toEqual(expect.arrayContaining([interrupt.id, approvalId]));

    const resume = [{ interruptId: interrupt.id, status: "resolved", payload: { approved: true } }];
    const rest = await post(after, "/api/ag-ui", { ...run, runId: "2", messages: [said], resume });
    expect(rest.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
    const approved = { type: "dynamic-tool", approval: { id: approvalId, approved: true } };
    const response = { id: messageId, role: "assistant", parts: [approved] };
    const more = await post(after, "/api/chat", { id: "chat", messages: [response] });
    expect(more.at(-1)).toMatchObject({ type: "finish", finishReason: "stop" });
    const result = { role: "tool", tool_call_id: call.id, content: "here" };
    const [done] = await post(after, "/v1/chat/completions", { ...functions, messages: [...messages, result] });
    expect(done.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "All done." } });

    expect(readFileSync(join(place.workspace, "ran.txt"), "utf8").trim().split("\n").sort()).toEqual([
      expect.stringContaining("by-ag-ui"),
      expect.stringContaining("by-chat"),
    ]);
    expect((await client.ask("question.list", {})).waiting).toEqual([]);
    const { conversations } = await client.ask("conversation.list", { programs: true });
    expect(conversations.map(({ running, waiting }) => running + waiting)).toEqual([0, 0, 0]);
  },
);
