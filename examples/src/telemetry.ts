// A turn as OpenTelemetry sees it: each span when it ends, with what it took. A program of yours sends them instead.
import { Agent, defineTool, Session } from "@banyan/core";
import { call, scriptedModel, spend, text } from "@banyan/core/testing";
import { RunIds, Telemetry } from "@banyan/telemetry";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";

const exporter = new InMemorySpanExporter();
const ids = new RunIds();
const provider = new TracerProvider({ idGenerator: ids, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const telemetry = new Telemetry({ tracer: provider.getTracer("garden"), ids });

const water = defineTool({
  name: "water",
  description: "Waters the garden.",
  input: { type: "object" },
  effects: "external",
  execute: () => "watered",
});
const model = scriptedModel([[call("water")], [text("The garden has water."), spend({ input: 120, output: 6 })]], {
  id: "openai/gpt-5",
});
const session = Session.inMemory();
telemetry.follow(session);
await new Agent({ name: "gardener", model, tools: [water] }).send("Water the garden.", { session });

for (const { name, attributes } of exporter.getFinishedSpans()) {
  const tokens = attributes["gen_ai.usage.output_tokens"];
  console.log(tokens === undefined ? name : `${name}: ${tokens} tokens out`);
}
