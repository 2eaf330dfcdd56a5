import { writeFileSync } from "node:fs";
import { Agent, defineTool, launchAgent, Session, say } from "@banyan/core";
import { call, fail, pause, type Script, scriptedModel, text } from "@banyan/core/testing";
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { RunIds } from "../run-ids.ts";
import { Telemetry } from "../telemetry.ts";

/*
 * Draws docs/trace.svg: `npm run picture`. A scripted model takes a turn with realistic pauses: the model is
 * overloaded once, a call needs approval, and a sub-agent works meanwhile. Each bar is an exported span of this run.
 */
const script: Script = (_request, index) => {
  if (index === 0) return [fail("overloaded")];
  if (index === 1)
    return [
      pause(90),
      text("I write it, and have somebody look."),
      call("launch_agent", { task: "Look.", expected_output: "what is there" }),
      call("write"),
    ];
  if (index === 2) return [pause(70), text("A garden."), call("finish_task", { result: "a garden" })];
  return [pause(60), text("It is written.")];
};

const exporter = new InMemorySpanExporter();
const ids = new RunIds();
const provider = new TracerProvider({ idGenerator: ids, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const telemetry = new Telemetry({ tracer: provider.getTracer("picture"), ids });
const write = defineTool({
  name: "write",
  description: "Writes.",
  input: { type: "object" },
  effects: "external",
  execute: () => new Promise((resolve) => setTimeout(() => resolve("written"), 8)),
});
const agent = new Agent({
  name: "banyan",
  model: scriptedModel(script, { id: "openai/gpt-5" }),
  tools: [launchAgent(), write],
  retry: { delay: 5 },
  permission: ({ tool }) => ({ decision: tool.name === "write" ? "ask" : "allow" }),
});
const session = Session.inMemory();
telemetry.follow(session);
for await (const item of agent.chat(say("Write it, and see what is there."), { session })) {
  if (item.type === "call.approval-requested")
    setTimeout(() => session.answer(item.question, { decision: "allow" }), 110);
}
writeFileSync(new URL("../../../../docs/trace.svg", import.meta.url), drawn(exporter.getFinishedSpans()));

function milliseconds([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1_000 + nanoseconds / 1e6;
}

function drawn(spans: readonly ReadableSpan[]): string {
  const [first] = spans.map(({ startTime }) => milliseconds(startTime)).toSorted((a, b) => a - b);
  const whole = Math.max(...spans.map(({ endTime }) => milliseconds(endTime))) - (first ?? 0);
  const [left, wide, high] = [230, 520, 26];
  const rows = below(spans, undefined, 0).map(({ span, depth }, row) => {
    const begins = milliseconds(span.startTime) - (first ?? 0);
    const lasts = milliseconds(span.endTime) - milliseconds(span.startTime);
    const [x, width] = [left + (begins / whole) * wide, Math.max(2, (lasts / whole) * wide)];
    const y = row * high + 8;
    const events = span.events.map(({ name, time }) => {
      const at = left + ((milliseconds(time) - (first ?? 0)) / whole) * wide;
      return `<path class="event" d="M${at.toFixed(1)} ${y - 1}v16"><title>${name}</title></path>`;
    });
    return [
      `<text x="${12 + depth * 14}" y="${y + 11}">${span.name}</text>`,
      `<rect class="${span.name.split(" ")[0]}" x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="14" rx="3"/>`,
      ...events,
      `<text class="time" x="${left + wide + 62}" y="${y + 11}">${Math.round(lasts)} ms</text>`,
    ].join("");
  });
  const height = rows.length * high + 12;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + wide + 74} ${height}" role="img" aria-label="The spans of one turn over time">
<style>
  svg { background: #fff; font: 12px ui-monospace, monospace }
  text { fill: #1d2421 } .time { text-anchor: end; fill: #55605a }
  .invoke_agent { fill: #2f6f4f } .chat { fill: #3f74b5 } .execute_tool { fill: #b5853f } .wait_for_person { fill: #a8a8a8 }
  .event { stroke: #b3261e; stroke-width: 2 }
</style>
${rows.join("\n")}
</svg>
`;
}

function below(
  spans: readonly ReadableSpan[],
  parent: string | undefined,
  depth: number,
): { readonly span: ReadableSpan; readonly depth: number }[] {
  return spans
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)
    .toSorted((a, b) => milliseconds(a.startTime) - milliseconds(b.startTime))
    .flatMap((span) => [{ span, depth }, ...below(spans, span.spanContext().spanId, depth + 1)]);
}
