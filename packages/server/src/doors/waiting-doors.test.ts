import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import OpenAI from "openai";
import { expect, onTestFinished, test, vi } from "vitest";
import { AgUiClient } from "../testing/ag-ui-client.fixture.ts";
import { TOKEN, temporaryDirectory } from "../testing/serving.fixture.ts";
import { TestClient } from "../testing/test-client.fixture.ts";
import { Chat, textOf, toolOf } from "../testing/ui-chat.fixture.ts";

const PROGRAM = fileURLToPath(new URL("../testing/waiting-program.fixture.ts", import.meta.url));
/** Other signals are tested with `banyan serve` itself in `cli/serve/waiting-doors-served.test.ts`. */
const ENDS: readonly NodeJS.Signals[] = process.env.BANYAN_LONG ? ["SIGKILL", "SIGTERM"] : ["SIGKILL"];

type Running = ChildProcessByStdio<null, Readable, null>;

/** The store of consecutive servers, and the lines that their calls wrote. */
function place() {
  const directory = temporaryDirectory();
  const file = join(directory, "written.txt");
  return {
    async start(): Promise<readonly [Running, string]> {
      const running = spawn(process.execPath, [PROGRAM, directory, TOKEN, file], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void running.kill("SIGKILL"));
      const [line] = await once(running.stdout, "data");
      return [running, String(line).trim()];
    },
    written: () => readFileSync(file, "utf8").trim().split("\n").sort(),
  };
}

/** An AG-UI client with the messages of an earlier one. */
function again(before: AgUiClient, address: string): AgUiClient {
  const client = new AgUiClient(address, before.threadId, structuredClone(before.messages));
  client.pendingInterrupts = before.pendingInterrupts;
  return client;
}

const locate = {
  name: "locate",
  description: "Where somebody is.",
  parameters: { type: "object", properties: { of: { type: "string" } } },
};

const headers = { authorization: `Bearer ${TOKEN}` };

/** The response of `GET /api/chat/ID`. */
const json = (response: Response) =>
  response.json() as Promise<{ readonly messages: readonly { readonly id: string }[] }>;

/** The approval that a chat waits for. */
function approvalIn(chat: Chat): { readonly id: string } {
  const part = toolOf(chat.last);
  return { id: (part && "approval" in part && part.approval?.id) || "" };
}

const DONE = "assistant: All is done.";

/** The calls that the last run handed to the client. */
function pendingCallsOf({ last }: AgUiClient): readonly string[] {
  return (last?.outcome as { readonly pendingToolCallIds?: readonly string[] } | undefined)?.pendingToolCallIds ?? [];
}

test.each(ENDS)(
  "F72: after %s the clients of AG-UI, useChat and /v1 send what they have with the answer: the question has its id, each call runs once, the turn ends",
  async (signal) => {
    const { start, written } = place();
    const [first, before] = await start();
    const threads = ["write", "ask", "plan", "look", "launch"].map(
      (word) => [word, new AgUiClient(before, `ag-${word}`)] as const,
    );
    await Promise.all(threads.map(([word, client]) => client.say(`${word} ag-${word}`)));
    const tools = [locate];
    const handing = new AgUiClient(before, "ag-locate");
    await handing.say("locate", { tools });
    const chats = ["write", "ask", "look", "launch"].map((word) => [word, new Chat(before, `ui-${word}`)] as const);
    await Promise.all(chats.map(([word, chat]) => chat.sendMessage({ text: `${word} ui-${word}` })));
    const openAi = (address: string) => new OpenAI({ baseURL: `${address}/v1`, apiKey: TOKEN, maxRetries: 0 });
    const functions = [{ type: "function" as const, function: locate }];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "locate" }];
    const asked = await openAi(before).chat.completions.create({ model: "banyan", messages, tools: functions });
    const calls = asked.choices[0]?.message.tool_calls ?? [];
    expect(calls).toHaveLength(2);
    const responses = [{ type: "function" as const, strict: false, ...locate }];
    const response = await openAi(before).responses.create({ model: "banyan", input: "locate", tools: responses });
    const made = response.output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []));

    const exit = once(first, "exit");
    first.kill(signal);
    await exit;
    const [, after] = await start();
    const watcher = await TestClient.connect({ address: after, token: TOKEN });
    const { waiting } = await watcher.ask("question.list", {});
    const open = new Set(waiting.map(({ question }) => question.id));

    await Promise.all(
      threads.map(async ([word, had]) => {
        const client = again(had, after);
        const [interrupt] = client.pendingInterrupts;
        expect(open, word).toContain(interrupt?.id);
        const payload = word === "ask" ? { text: "blue" } : { approved: true };
        await client.runAgent({ resume: [{ interruptId: interrupt?.id ?? "", status: "resolved", payload }] });
        expect([client.told.at(-1), client.last?.outcome], word).toEqual([DONE, { type: "success" }]);
        const made = client.messages.flatMap((each) => (each.role === "assistant" ? (each.toolCalls ?? []) : []));
        const results = client.messages.flatMap((each) => (each.role === "tool" ? [each.toolCallId] : []));
        expect(results.sort(), word).toEqual(made.map(({ id }) => id).sort());
      }),
    );
    const back = again(handing, after);
    const handedOut = pendingCallsOf(handing);
    expect(handedOut).toHaveLength(2);
    for (const [index, toolCallId] of handedOut.entries())
      back.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId, content: ["here", "there"][index] ?? "" });
    await back.runAgent({ tools });
    expect([back.told.at(-1), back.last?.outcome]).toEqual([DONE, { type: "success" }]);

    await Promise.all(
      chats.map(async ([word, had]) => {
        const chat = new Chat(after, had.id);
        chat.messages = structuredClone(had.messages);
        if (word === "write") await chat.addToolApprovalResponse({ ...approvalIn(chat), approved: true });
        else {
          const question = chat.last?.parts.find(({ type }) => type === "data-question") as { readonly id: string };
          expect(open, word).toContain(question.id);
          const answer = word === "ask" ? { decision: "answer", text: "blue" } : { decision: "allow" };
          await chat.sendMessage(undefined, { body: { answers: [{ question: question.id, answer }] } });
        }
        await vi.waitFor(
          () =>
            expect([chat.status, textOf(chat.last)], word).toEqual(["ready", expect.stringMatching(/All is done\.$/)]),
          20_000,
        );
        expect(chat.messages, word).toHaveLength(2);
        const states = chat.last?.parts.flatMap((each) => (each.type === "dynamic-tool" ? [each.state] : []));
        expect(new Set(states), word).toEqual(new Set(["output-available"]));
      }),
    );

    const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "here" }) as const);
    const done = await openAi(after).chat.completions.create({
      model: "banyan",
      messages: [...messages, ...results],
      tools: functions,
    });
    expect(done.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "All is done." } });
    const input = made.map((call_id) => ({ type: "function_call_output" as const, call_id, output: "here" }));
    const told = await openAi(after).responses.create({
      model: "banyan",
      input,
      tools: responses,
      previous_response_id: response.id,
    });
    expect(told.output_text).toBe("All is done.");

    // A client that opens a chat later gets the turn as one message, although it had two runs.
    const { messages: kept } = await json(await fetch(`${after}/api/chat/ui-write`, { headers }));
    expect(kept.map(({ id }) => id)).toEqual(chats[0]?.[1].messages.map(({ id }) => id));

    expect(written()).toEqual(["ag-launch", "ag-write", "ui-launch", "ui-write"]);
    expect((await watcher.ask("question.list", {})).waiting).toEqual([]);
    for (const conversation of (await watcher.ask("conversation.list", { programs: true })).conversations)
      expect(conversation).toMatchObject({ running: 0, waiting: 0 });
  },
);

test("F72: a turn that waits since a restart gets new messages when it continues; a stop ends the wait", async () => {
  const { start, written } = place();
  const [first, before] = await start();
  const [heard, stopped] = [new Chat(before, "heard"), new AgUiClient(before, "stopped")];
  await heard.sendMessage({ text: "write heard" });
  await stopped.say("write stopped");
  const { id } = approvalIn(heard);
  first.kill("SIGKILL");
  await once(first, "exit");
  const [, after] = await start();
  const page = new Chat(after, "heard");
  page.messages = structuredClone(heard.messages);
  await page.sendMessage({ text: "mind the gap" });
  const body = JSON.stringify({
    id: "heard",
    messages: heard.messages,
    answers: [{ question: id, answer: { decision: "allow" } }],
  });
  const post = { method: "POST", headers: { ...headers, "content-type": "application/json" } };
  const told = await (await fetch(`${after}/api/chat`, { ...post, body })).text();
  expect(told).toMatch(/"tool-output-available".*steering-message.*mind the gap.*You said: mind/s);
  const stop = await fetch(`${after}/api/ag-ui/stopped/stop`, post);
  expect(await stop.json()).toEqual({ interrupted: 1 });
  expect(written()).toEqual(["heard"]);
  const watcher = await TestClient.connect({ address: after, token: TOKEN });
  expect((await watcher.ask("question.list", {})).waiting).toEqual([]);
});

test("F72: a program without state gets the waiting question; another client's answer completes a client-side call without the tool's description", async () => {
  const { start } = place();
  const [first, before] = await start();
  const handing = new AgUiClient(before, "other");
  await handing.say("locate", { tools: [locate] });
  await new Chat(before, "page").sendMessage({ text: "ask" });
  first.kill("SIGKILL");
  await once(first, "exit");
  const [, after] = await start();

  const stranger = new AgUiClient(after, "other");
  await stranger.runAgent();
  expect(stranger.told.slice(0, 1)).toEqual(["user: locate"]);
  expect(stranger.pendingInterrupts).toMatchObject([{ reason: "input_required" }, { reason: "input_required" }]);
  const page = new Chat(after, "page");
  await page.resumeStream();
  expect(page.last?.parts.map(({ type }) => type)).toEqual(["step-start", "dynamic-tool", "data-question"]);

  // Unusable tools are refused, and the question stays open.
  const wrong = again(handing, after);
  const [toolCallId = ""] = pendingCallsOf(handing);
  wrong.addMessage({ id: "result", role: "tool", toolCallId, content: "here" });
  await expect(wrong.runAgent({ tools: [{ ...locate, name: "write" }] })).rejects.toThrow(
    "write is one of the agent itself",
  );

  const watcher = await TestClient.connect({ address: after, token: TOKEN });
  const { state } = await watcher.watch("other");
  expect(state.questions.size).toBe(2);
  const run = [...state.waiting.keys()];
  expect(run).toHaveLength(1);
  for (const question of state.questions.keys()) {
    const answer = { decision: "answer", text: "found" } as const;
    expect(await watcher.ask("question.answer", { conversation: "other", question, answer })).toEqual({});
  }
  await watcher.until(() => state.lastRunEnd === "answered");
  const calls = [...state.messages.values()].flatMap((each) => (each.role === "assistant" ? each.calls : []));
  expect(calls).toMatchObject([
    { status: "completed", output: "found" },
    { status: "completed", output: "found" },
  ]);
  // The returning program gets all messages and continues.
  const back = again(handing, after);
  await back.say("thanks", { tools: [locate] });
  expect(back.told.at(-1)).toBe("assistant: You said: thanks");
});
