import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, launchAgent, Session, say } from "@banyan/core";
import { call, finishTask, scriptedModel, spend, stall, text } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { RunIds, Telemetry } from "@banyan/telemetry";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";

/** The spans of a process. */
function receiver() {
  const exporter = new InMemorySpanExporter();
  const ids = new RunIds();
  const provider = new TracerProvider({ idGenerator: ids, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  return {
    telemetry: new Telemetry({ tracer: provider.getTracer("test"), ids }),
    spans: () => exporter.getFinishedSpans(),
    turns: () => exporter.getFinishedSpans().filter(({ name }) => name === "invoke_agent agent"),
  };
}

test("a turn that one process began and another ended after a crash is one trace, with the times of its events", async () => {
  const folder = mkdtempSync(join(tmpdir(), "banyan-telemetry-"));
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  const before = receiver();
  const after = receiver();
  const model = scriptedModel([[text("One"), stall()], "Two"]);
  const agent = new Agent({ model });
  {
    await using session = await Session.open(sqliteStore({ directory: first }), "garden", { create: true });
    const stop = before.telemetry.follow(session);
    for await (const item of agent.chat(say("Go"), { session })) {
      if (item.type !== "text.delta") continue;
      // What the disk has at this moment is what a crash leaves.
      cpSync(first, second, { recursive: true });
      stop();
      session.interrupt();
    }
  }
  await using session = await Session.open(sqliteStore({ directory: second }), "garden");
  after.telemetry.follow(session);
  await agent.send("Go on", { session });
  rmSync(folder, { recursive: true, force: true });
  const [begun] = before.turns();
  const [ended] = after.turns();
  expect(ended?.attributes).toMatchObject({ "banyan.run.outcome": "interrupted" });
  expect(ended?.spanContext()).toEqual(begun?.spanContext());
  expect(ended?.startTime).toEqual(begun?.startTime);
  expect(after.turns()).toHaveLength(2);
});

test("F102: the trace of a turn that a kill cut has all spans that the log has, with their tokens and ids", async () => {
  const folder = mkdtempSync(join(tmpdir(), "banyan-telemetry-"));
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  const before = receiver();
  const after = receiver();
  const model = scriptedModel(
    (request, index) => {
      const said = JSON.stringify(request.messages);
      if (said.includes("Second message")) return "Two";
      // The request of the sub-agent, which has not seen the first call.
      if (said.includes("Look around") && !said.includes("c1"))
        return [finishTask("I see a tree."), spend({ input: 7, output: 4 })];
      return (
        [
          [call("look", {}, "c1"), spend({ input: 10, output: 2 })],
          [
            call("launch_agent", { agent: "scout", task: "Look around.", expected_output: "What is there." }, "c2"),
            spend({ input: 20, output: 3 }),
          ],
        ][index] ?? [text("One"), stall()]
      );
    },
    { id: "openai/gpt-5", price: { input: 1, output: 1 } },
  );
  const look = defineTool({
    ...{ name: "look", description: "Looks.", input: { type: "object" }, effects: "none" },
    execute: () => "a garden",
  });
  const scout = { name: "scout", description: "looks", instructions: "Look." };
  const launch = launchAgent({ agents: [scout], resolveModel: () => Promise.resolve(model) });
  const agent = new Agent({ model, tools: [look, launch] });
  {
    await using session = await Session.open(sqliteStore({ directory: first }), "garden", { create: true });
    before.telemetry.follow(session);
    for await (const item of agent.chat(say("Go"), { session })) {
      if (item.type !== "text.delta" || item.text !== "One") continue;
      // A kill would leave the disk as it is at this moment.
      cpSync(first, second, { recursive: true });
      session.interrupt();
    }
  }
  await using session = await Session.open(sqliteStore({ directory: second }), "garden");
  after.telemetry.follow(session);
  await agent.send("Second message", { session });
  rmSync(folder, { recursive: true, force: true });
  const idsOf = (spans: ReturnType<typeof after.spans>) =>
    spans.map((span) => `${span.name} ${span.spanContext().traceId} ${span.spanContext().spanId}`).toSorted();
  const trace = before.turns().at(-1)?.spanContext().traceId;
  const cut = after.spans().filter((span) => span.spanContext().traceId === trace);
  expect(cut.map(({ name }) => name).toSorted()).toEqual([
    ...["chat gpt-5", "chat gpt-5", "chat gpt-5", "chat gpt-5"],
    ...[
      "execute_tool finish_task",
      "execute_tool launch_agent",
      "execute_tool look",
      "invoke_agent agent",
      "invoke_agent scout",
    ],
  ]);
  // The process that was not killed tells the same spans.
  expect(idsOf(cut)).toEqual(idsOf(before.spans().filter((span) => span.spanContext().traceId === trace)));
  const tokens = (name: string) =>
    cut
      .filter((span) => span.name === name)
      .map(({ attributes }) => [attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]]);
  // The last response was cut before its tokens were known.
  expect(tokens("chat gpt-5").toSorted()).toEqual([
    [undefined, undefined],
    [10, 2],
    [20, 3],
    [7, 4],
  ]);
  expect(tokens("invoke_agent agent")).toEqual([[30, 5]]);
  expect(tokens("invoke_agent scout")).toEqual([[7, 4]]);
  const timesOf = (name: string) =>
    [cut, before.spans()].map((spans) => spans.find((span) => span.name === name)?.startTime);
  for (const name of ["execute_tool look", "invoke_agent scout"]) expect(timesOf(name)[0]).toEqual(timesOf(name)[1]);
  // The turn of this process has a trace of its own.
  expect(
    after
      .spans()
      .filter((span) => span.spanContext().traceId !== trace)
      .map(({ name }) => name),
  ).toEqual(["chat gpt-5", "invoke_agent agent"]);
});
