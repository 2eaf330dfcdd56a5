import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session, say } from "@banyan/core";
import { scriptedModel, stall, text } from "@banyan/core/testing";
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
