import { Agent, defineTool, Session, say } from "@banyan/core";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { Telemetry } from "@banyan/telemetry";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { cpuTime, type Measure } from "../measure.ts";

/** Deltas of every second response. */
const DELTAS = 50;

const WORDS = Array.from({ length: DELTAS }, (_, index) => `word ${index} `);

/** Accepts spans without sending them: network cost is not ours. */
const nowhere: SpanExporter = {
  export: (_, done) => done({ code: 0 }),
  shutdown: async () => {},
};

function telemetry(content: boolean): Telemetry {
  const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: nowhere })] });
  const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA);
  const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
  return new Telemetry({ tracer: provider.getTracer("bench"), meter: meters.getMeter("bench"), content });
}

const followers: Readonly<Record<string, () => Telemetry | undefined>> = {
  off: () => undefined,
  on: () => telemetry(false),
  "on, with content": () => telemetry(true),
};

export const telemetryMeasure: Measure = {
  name: "telemetry",
  what: `turns with one call and a response of ${DELTAS} deltas, with a scripted model and a window of 20 messages: what spans and metrics add`,
  subjects: Object.keys(followers),
  bounds: [],
  figures: [{ name: "CPU per turn", unit: "µs" }],
  rounds: 3,
  async run(subject, { turns }) {
    const follower = followers[subject];
    if (!follower) throw new Error(`There is no subject "${subject}".`);
    const session = Session.inMemory({ window: 20 });
    follower()?.follow(session);
    const last = Math.ceil(turns / 10);
    let taken = 0;
    const look = defineTool({
      name: "look",
      description: "Looks.",
      input: { type: "object" },
      effects: "none",
      execute: () => "seen",
    });
    const agent = new Agent({
      model: scriptedModel((_, index) => (index % 2 === 0 ? [call("look")] : [text(...WORDS)])),
      tools: [look],
      onTurn: (_, self) => (++taken < last ? self.chat(say("And then?")) : undefined),
    });
    const started = cpuTime();
    for await (const _ of agent.chat(say("Look around."), { session }));
    const cpu = cpuTime() - started;
    if (taken !== last) throw new Error(`${taken} turns were taken; ${last} were asked for.`);
    return { "CPU per turn": (cpu * 1000) / taken };
  },
};
