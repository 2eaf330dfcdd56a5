import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Agent, Session, say } from "@banyan/core";
import { scriptedModel, stall, text } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { RunIds, Telemetry } from "@banyan/telemetry";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { describe, expect, test, vi } from "vitest";
import { lineOf } from "./killed-telemetry.fixture.ts";
import { type HostOptions, openHost } from "./open-host.ts";

/** Receives the spans of a process. */
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

test("a turn that another process ended after a crash is one trace, with the times of its events", async () => {
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
      // A crash would leave the disk as it is now.
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

test("F102: the trace of a killed turn has all spans of the log, with their tokens and ids", async () => {
  const folder = mkdtempSync(join(tmpdir(), "banyan-telemetry-"));
  const program = join(import.meta.dirname, "killed-telemetry.fixture.ts");
  const killed = spawn(process.execPath, [program, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const told: string[] = [];
  for await (const line of createInterface({ input: killed.stdout })) {
    if (line === "One") killed.kill("SIGKILL");
    else told.push(line);
  }
  if (killed.signalCode === null) await once(killed, "exit");
  expect(killed.signalCode).toBe("SIGKILL");
  const after = receiver();
  const agent = new Agent({ model: scriptedModel(["Two"], { id: "openai/gpt-5", price: { input: 1, output: 1 } }) });
  await using session = await Session.open(sqliteStore({ directory: folder }), "garden");
  after.telemetry.follow(session);
  await agent.send("Second message", { session });
  rmSync(folder, { recursive: true, force: true });
  const trace = told[0]?.split(" ").at(-2);
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
  // The spans that the process reported before it was killed. Others were open then.
  const isNamed = cut.map(lineOf);
  expect(told.length).toBeGreaterThanOrEqual(5);
  for (const line of told) expect(isNamed).toContain(line);
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
  // The turn of this process has a trace of its own.
  expect(
    after
      .spans()
      .filter((span) => !cut.includes(span))
      .map(({ name }) => name),
  ).toEqual(["chat gpt-5", "invoke_agent agent"]);
});

/** A collector that never answers. */
async function hangingCollector() {
  const server = createServer(() => {
    requests += 1;
  });
  let requests = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    get requests() {
      return requests;
    },
    async [Symbol.asyncDispose]() {
      vi.unstubAllEnvs();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("F102: the end of a program with a collector that hangs", () => {
  const turn = async (options: Partial<HostOptions>) => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-telemetry-")));
    const env = { ...process.env, BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
    const flags = { model: "demo/offline" };
    const host = await openHost({ cwd: home, home, env, flags, canAsk: false, readyLater: true, ...options });
    await host.agent.with({ model: scriptedModel(["One"]) }).send("Go", { session: await host.newSession() });
    await host.close();
    const log = join(home, "own", "state", "banyan.log");
    const logged = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
    return { logged, [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }) };
  };

  test("no program sends spans before its result asks for them", async () => {
    await using collector = await hangingCollector();
    let send: (() => Promise<void>) | undefined;
    using it = await turn({
      sending: (last) => {
        send = last;
      },
    });
    expect([collector.requests, it.logged()]).toEqual([0, ""]);
    await send?.();
    expect(collector.requests).toBeGreaterThan(0);
    expect(it.logged()).toContain("The last telemetry could not be sent within 2 seconds.");
  });

  test("another program waits for half a second", async () => {
    await using _collector = await hangingCollector();
    using it = await turn({});
    expect(it.logged()).toContain("The last telemetry could not be sent within 0.5 seconds.");
  });
});
