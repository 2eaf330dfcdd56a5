// Prints each ended span as a line, and "One" when its last response has begun, which never ends. A test kills the program
// then: `node killed-telemetry.fixture.ts FOLDER`.
import { writeSync } from "node:fs";
import { Agent, defineTool, launchAgent, Session, say } from "@banyan/core";
import { call, finishTask, scriptedModel, spend, stall, text } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { RunIds, Telemetry } from "@banyan/telemetry";
import { type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";

/** A line with the name of a span and its ids. */
export function lineOf(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext();
  return [span.name, traceId, spanId].join(" ");
}

async function work(directory: string): Promise<void> {
  const ids = new RunIds();
  const exporter = {
    export(spans: ReadableSpan[], done: (result: { code: number }) => void) {
      for (const span of spans) writeSync(1, `${lineOf(span)}\n`);
      done({ code: 0 });
    },
    shutdown: () => Promise.resolve(),
  };
  const provider = new TracerProvider({ idGenerator: ids, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const telemetry = new Telemetry({ tracer: provider.getTracer("test"), ids });
  const model = scriptedModel(
    (request, index) => {
      const said = JSON.stringify(request.messages);
      // The request of the sub-agent, which has not seen the first call.
      if (said.includes("Look around") && !said.includes("c1"))
        return [finishTask("I see a tree."), spend({ input: 7, output: 4 })];
      const task = { agent: "scout", task: "Look around.", expected_output: "What is there." };
      const calls = [
        [call("look", {}, "c1"), spend({ input: 10, output: 2 })],
        [call("launch_agent", task, "c2"), spend({ input: 20, output: 3 })],
      ];
      return calls[index] ?? [text("One"), stall()];
    },
    { id: "openai/gpt-5", price: { input: 1, output: 1 } },
  );
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    effects: "none",
    execute: () => "a garden",
  });
  const scout = { name: "scout", description: "looks", instructions: "Look." };
  const launch = launchAgent({ agents: [scout], resolveModel: () => Promise.resolve(model) });
  const agent = new Agent({ model, tools: [look, launch] });
  const session = await Session.open(sqliteStore({ directory }), "garden", { create: true });
  telemetry.follow(session);
  for await (const item of agent.chat(say("Go"), { session }))
    if (item.type === "text.delta" && item.text === "One") writeSync(1, "One\n");
}

const [directory] = process.argv.slice(2);
if (process.argv[1] === import.meta.filename && directory) await work(directory);
