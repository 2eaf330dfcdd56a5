import { spawnSync } from "node:child_process";
import { convertGenAISpanAttributesToOpenInferenceSpanAttributes } from "@arizeai/openinference-genai";
import { Agent, askClient, defineTool, launchAgent, Session, say } from "@banyan/core";
import { call, cut, end, fail, reasoning, type Script, scriptedModel, spend, text } from "@banyan/core/testing";
import { SpanStatusCode } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";
import { pythonPackage } from "../../../scripts/python-package.ts";
import { RunIds } from "./run-ids.ts";
import { Telemetry, type TelemetryOptions } from "./telemetry.ts";

const note = defineTool({
  name: "note",
  description: "Notes something.",
  input: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
  effects: "external",
  execute: (input) => {
    if (JSON.stringify(input).includes("badly")) throw new Error("it broke");
    return "noted";
  },
});

function receiver(more: TelemetryOptions = {}) {
  const exporter = new InMemorySpanExporter();
  const ids = new RunIds();
  const provider = new TracerProvider({ idGenerator: ids, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 3_600_000 });
  const meters = new MeterProvider({ readers: [reader] });
  const telemetry = new Telemetry({ tracer: provider.getTracer("test"), meter: meters.getMeter("test"), ids, ...more });
  return {
    telemetry,
    spans: () => exporter.getFinishedSpans(),
    async histogram(name: string) {
      await meters.forceFlush();
      const metrics = metricExporter.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? [];
      return (metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []) as {
        attributes: Record<string, unknown>;
        value: { count: number; sum: number };
      }[];
    },
  };
}

function drawn(spans: readonly ReadableSpan[]): string {
  const below = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)
      .toSorted((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
      .flatMap((span) => {
        const failure = span.attributes["error.type"];
        const line = `${"  ".repeat(depth)}${span.name}${failure === undefined ? "" : ` ✗ ${failure}`}`;
        return [line, ...below(span.spanContext().spanId, depth + 1)];
      });
  return below(undefined, 0).join("\n");
}

function named(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const span = spans.find((one) => one.name === name);
  if (!span) throw new Error(`No span ${name} among ${spans.map((one) => one.name).join(", ")}`);
  return span;
}

async function played(
  script: Script,
  { tools = [note], ...more }: TelemetryOptions & { tools?: ReturnType<typeof defineTool>[] } = {},
) {
  const { telemetry, ...seen } = receiver(more);
  const model = scriptedModel(script, { id: "openai-chat/gpt-5", price: { input: 1, output: 1_000_000 } });
  const agent = new Agent({
    name: "gardener",
    model,
    tools,
    instructions: "Be short.",
    settings: { temperature: 0.5, topP: 0.9, seed: 7 },
    retry: { delay: 1 },
  });
  const session = Session.inMemory();
  telemetry.follow(session);
  return { ...seen, telemetry, agent, session };
}

test("who is asked something for a call that runs can go on with its trace, and later there is none", async () => {
  const { telemetry, spans } = receiver();
  const session = Session.inMemory();
  const seen: (string | undefined)[] = [];
  const go = defineTool({
    name: "go",
    description: "Goes.",
    input: { type: "object" },
    effects: "external",
    execute: (_input, { call, conversation }) => {
      seen.push(telemetry.traceparent(conversation.id, call), telemetry.traceparent("another", call));
      return "gone";
    },
  });
  const stop = telemetry.follow(session);
  await new Agent({ model: scriptedModel([[call("go", {}, "c1")], "Done."]), tools: [go] }).send("Go", { session });
  const { traceId, spanId } = named(spans(), "execute_tool go").spanContext();
  expect(seen).toEqual([`00-${traceId}-${spanId}-01`, undefined]);
  expect(telemetry.traceparent(session.id, "c1")).toBeUndefined();
  stop();
});

test("a turn is a span with its model calls and tool calls below it", async () => {
  const script = [
    [call("note", { what: "a" }), call("note", { what: "badly" }), spend({ input: 10, output: 2, cached: 4 })],
    [text("Done"), spend({ input: 20, output: 3, reasoning: 1 })],
  ];
  const { agent, session, spans } = await played(script);
  await agent.send("Note it", { session });
  expect(drawn(spans())).toBe(
    [
      "invoke_agent gardener",
      "  chat gpt-5",
      "  execute_tool note",
      "  execute_tool note ✗ failed",
      "  chat gpt-5",
    ].join("\n"),
  );
  const turn = named(spans(), "invoke_agent gardener");
  expect(turn.attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "openai",
    "gen_ai.agent.name": "gardener",
    "gen_ai.conversation.id": session.id,
    "gen_ai.request.model": "gpt-5",
    "gen_ai.usage.input_tokens": 30,
    "gen_ai.usage.output_tokens": 5,
    "gen_ai.usage.cache_read.input_tokens": 4,
    "gen_ai.usage.reasoning.output_tokens": 1,
    "banyan.run.outcome": "answered",
    "banyan.branch.leaf": session.state.leaf,
  });
  expect(turn.attributes["banyan.cost.usd"]).toBeCloseTo(5.00003);
  const chat = named(spans(), "chat gpt-5");
  expect(chat.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.temperature": 0.5,
    "gen_ai.request.top_p": 0.9,
    "gen_ai.request.seed": 7,
    "gen_ai.request.stream": true,
    "gen_ai.response.finish_reasons": ["tool_call"],
    "gen_ai.response.time_to_first_chunk": expect.any(Number),
    "gen_ai.usage.input_tokens": 10,
  });
});

test("nothing that was said is told, unless somebody asks for it", async () => {
  const { agent, session, spans } = await played([[text("a secret"), call("note", { what: "my secret" })], "secret"]);
  await agent.send("The secret", { session });
  const told = JSON.stringify(
    spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
  );
  expect(told).not.toContain("secret");
  expect(told).not.toContain("Be short");
});

test("content has the shapes of the conventions, and goes through the redactor", async () => {
  const { agent, session, spans } = await played([[text("Look: "), call("note", { what: "s3cret" }, "c1")], "fine"], {
    content: true,
    redact: (said) => said.replaceAll("s3cret", "[redacted]"),
  });
  await agent.send("Note s3cret", { session });
  const chats = spans().filter(({ name }) => name === "chat gpt-5");
  const [first, second] = chats.map(({ attributes }) => attributes);
  const json = (of: unknown) => JSON.parse(String(of));
  expect(json(first?.["gen_ai.system_instructions"])).toEqual([
    { type: "text", content: expect.stringContaining("Be short.") },
  ]);
  const { name, description, input: parameters } = note;
  expect(json(first?.["gen_ai.tool.definitions"])).toEqual([{ type: "function", name, description, parameters }]);
  expect(json(first?.["gen_ai.output.messages"])).toEqual([
    {
      role: "assistant",
      parts: [
        { type: "text", content: "Look: " },
        { type: "tool_call", id: "c1", name: "note", arguments: { what: "[redacted]" } },
      ],
      finish_reason: "tool_call",
    },
  ]);
  expect(json(second?.["gen_ai.input.messages"])).toEqual([
    { role: "user", parts: [{ type: "text", content: "Note [redacted]" }] },
    {
      role: "assistant",
      parts: [
        { type: "text", content: "Look: " },
        { type: "tool_call", id: "c1", name: "note", arguments: { what: "[redacted]" } },
      ],
    },
    { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "noted" }] },
  ]);
  const tool = named(spans(), "execute_tool note").attributes;
  expect(json(tool["gen_ai.tool.call.arguments"])).toEqual({ what: "[redacted]" });
  expect(json(tool["gen_ai.tool.call.result"])).toBe("noted");
  expect(JSON.stringify(spans().map(({ attributes }) => attributes))).not.toContain("s3cret");
});

test("a model call that is tried again is one span with its retries; one that fails has the error's code", async () => {
  const { agent, session, spans, histogram } = await played([
    [fail("overloaded", { status: 529 })],
    [text("a"), cut()],
    "Here",
    [fail("authentication")],
  ]);
  await agent.send("Go", { session });
  const [chat] = spans();
  expect(drawn(spans())).toBe("invoke_agent gardener\n  chat gpt-5");
  expect(chat?.attributes).toMatchObject({ "banyan.retries": 2 });
  expect(
    chat?.events.map(({ name, attributes }) => [
      name,
      attributes?.["error.type"],
      attributes?.["http.response.status_code"],
    ]),
  ).toEqual([
    ["retry", "overloaded", 529],
    ["retry", "broken-stream", undefined],
  ]);
  await agent.send("Again", { session }).catch(() => {});
  expect(drawn(spans().slice(2))).toBe("invoke_agent gardener ✗ authentication\n  chat gpt-5 ✗ authentication");
  expect(spans().at(-1)?.status).toEqual({ code: SpanStatusCode.ERROR });
  const durations = await histogram("gen_ai.client.inference.duration");
  expect(durations.map(({ attributes, value }) => [attributes["error.type"], value.count])).toEqual([
    [undefined, 1],
    ["authentication", 1],
  ]);
});

test("a sub-agent's work is part of the call that launched it", async () => {
  const script: Script = ({ messages }) => {
    const said = JSON.stringify(messages[0]);
    if (!said.includes("Ask around")) return [call("finish_task", { result: "found" })];
    return messages.length === 1 ? [call("launch_agent", { task: "Look", expected_output: "a word" })] : "All done";
  };
  const { agent, session, spans } = await played(script, { tools: [launchAgent()] });
  await agent.send("Ask around", { session });
  expect(drawn(spans())).toBe(
    [
      "invoke_agent gardener",
      "  chat gpt-5",
      "  execute_tool launch_agent",
      "    invoke_agent gardener",
      "      chat gpt-5",
      "      execute_tool finish_task",
      "  chat gpt-5",
    ].join("\n"),
  );
});

test("the wait for a person is a span of its own, and a sum on the turn", async () => {
  const { telemetry, spans, histogram } = receiver();
  const model = scriptedModel([[call("note", { what: "a" })], [call("ask_client", { question: "Which?" })], "Done"]);
  const agent = new Agent({
    model,
    tools: [note, askClient()],
    permission: ({ tool }) => ({ decision: tool.name === "note" ? "ask" : "allow" }),
  });
  const session = Session.inMemory();
  telemetry.follow(session);
  const chat = agent.chat(say("Go"), { session });
  for await (const item of chat) {
    if (item.type === "call.approval-requested") {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await session.answer(item.question, { decision: "allow" });
    }
    if (item.type === "question.asked") await session.answer(item.question, { decision: "answer", text: "this" });
  }
  expect(drawn(spans())).toMatchInlineSnapshot(`
    "invoke_agent agent
      chat model
      wait_for_person
      execute_tool note
      chat model
      execute_tool ask_client
        wait_for_person
      chat model"
  `);
  expect(Number(named(spans(), "invoke_agent agent").attributes["banyan.person.wait_ms"])).toBeGreaterThanOrEqual(15);
  const waits = await histogram("banyan.person.wait.duration");
  expect(waits.map(({ attributes, value }) => [attributes["banyan.question.type"], value.count])).toEqual([
    ["approval", 1],
    ["text", 1],
  ]);
});

test("a call that never ran has its span too: each call has one, as it has one result", async () => {
  const { telemetry, spans } = receiver();
  const model = scriptedModel([[call("note", { what: "a" }), call("nothing"), call("note", { wrong: 1 })], "Done"]);
  const agent = new Agent({ model, tools: [note], permission: () => ({ decision: "deny", reason: "never" }) });
  const session = Session.inMemory();
  telemetry.follow(session);
  await agent.send("Go", { session });
  const tools = spans().filter(({ name }) => name.startsWith("execute_tool"));
  expect(
    tools.map(({ name, attributes }) => [name, attributes["error.type"], attributes["banyan.call.attempt"]]).toSorted(),
  ).toEqual([
    ["execute_tool note", "denied", 0],
    ["execute_tool note", "failed", 0],
    ["execute_tool nothing", "failed", 0],
  ]);
});

test("an unknown cost is not told as zero", async () => {
  const { telemetry, spans } = receiver();
  const session = Session.inMemory();
  telemetry.follow(session);
  await new Agent({ model: scriptedModel(["Hello"]) }).send("Hi", { session });
  expect(spans().map(({ attributes }) => "banyan.cost.usd" in attributes)).toEqual([false, false]);
});

test("what is open when a session closes, or is no longer followed, ends", async () => {
  const { telemetry, spans } = receiver();
  const session = Session.inMemory();
  const stop = telemetry.follow(session);
  const gate = Promise.withResolvers<void>();
  const wait = defineTool({
    name: "wait",
    effects: "none",
    description: "Waits.",
    input: { type: "object" },
    execute: () => gate.promise,
  });
  const agent = new Agent({ model: scriptedModel([[call("wait")], "Done"]), tools: [wait] });
  const chat = agent.chat(say("Go"), { session });
  for await (const item of chat) {
    if (item.type !== "call.executing") continue;
    stop();
    gate.resolve();
  }
  expect(drawn(spans())).toBe("invoke_agent agent ✗ closed\n  chat model\n  execute_tool wait ✗ cancelled");
});

test("a judge that is not ours reads the spans: OpenInference's converter", async () => {
  const { agent, session, spans } = await played([[text("Look"), call("note", { what: "a" }, "c1")], "fine"], {
    content: true,
  });
  await agent.send("Note it", { session });
  const read = (name: string, at = 0) => {
    const found = spans().filter((span) => span.name === name);
    return convertGenAISpanAttributesToOpenInferenceSpanAttributes(found.at(at)?.attributes ?? {});
  };
  expect(read("chat gpt-5", -1)).toMatchObject({
    "openinference.span.kind": "LLM",
    "llm.model_name": "gpt-5",
    "llm.provider": "openai",
    "llm.token_count.prompt": 1,
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.1.message.role": "user",
    "llm.output_messages.0.message.role": "assistant",
  });
  expect(JSON.stringify(read("chat gpt-5", -1))).toContain("c1");
  expect(read("invoke_agent gardener")).toMatchObject({ "openinference.span.kind": "AGENT", "agent.name": "gardener" });
  expect(read("execute_tool note")).toMatchObject({ "openinference.span.kind": "TOOL", "tool.name": "note" });
});

/** The classes of the conventions' own package as JSON Schemas of the content attributes. */
const JUDGE = `
import json, sys
from typing import Union, get_args
from pydantic import TypeAdapter
from opentelemetry.util.genai import types
# A part of any type is one, too: what is sent here must be of those that it names.
types.MessagePart = Union[tuple(part for part in get_args(types.MessagePart) if part is not types.GenericPart)]
judges = {
    "gen_ai.system_instructions": list[types.TextPart],
    "gen_ai.input.messages": list[types.InputMessage],
    "gen_ai.output.messages": list[types.OutputMessage],
    "gen_ai.tool.definitions": list[types.FunctionToolDefinition],
}
for name, text in json.load(sys.stdin):
    TypeAdapter(judges[name]).validate_json(text, strict=True)
    print(name)
`;
const { path: PYTHONPATH, whyNot } = pythonPackage("opentelemetry-util-genai==1.3b0", "pydantic==2.13.4");

test.skipIf(whyNot !== "")(`what was said has the shapes that the conventions' own package has${whyNot}`, async () => {
  const judged = (said: readonly (readonly [name: string, text: string])[]) => {
    const env = { ...process.env, ...(PYTHONPATH && { PYTHONPATH }) };
    const { stdout, stderr } = spawnSync("python3", ["-c", JUDGE], { input: JSON.stringify(said), env });
    return { fitting: String(stdout).split("\n").filter(Boolean), stderr: String(stderr) };
  };
  const script: Script = [
    [reasoning("Hm."), text("Look"), call("note", { what: "a" }, "c1")],
    [text("Half"), end("length")],
  ];
  const { agent, session, spans } = await played(script, { content: true });
  const data = "aGVsbG8=";
  const files = [
    { mediaType: "image/png", data },
    { mediaType: "application/pdf", url: "https://example.org/a.pdf" },
  ];
  const parts = [{ type: "text" as const, text: "See" }, ...files.map((file) => ({ type: "file" as const, ...file }))];
  await agent.send(parts, { session });
  const said = spans().flatMap(({ attributes }) =>
    ["system_instructions", "input.messages", "output.messages", "tool.definitions"].flatMap((what) => {
      const told = attributes[`gen_ai.${what}`];
      return told === undefined ? [] : [[`gen_ai.${what}`, String(told)] as const];
    }),
  );
  expect(said.length).toBe(8);
  expect(judged(said)).toEqual({ fitting: said.map(([name]) => name), stderr: "" });
  expect(judged([["gen_ai.input.messages", '[{"role":"user","parts":[{"type":"text"}]}]']]).stderr).toContain(
    "content",
  );
});
