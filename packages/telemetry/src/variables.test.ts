import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Agent, Session } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openOtlp } from "./otlp.ts";
import { readOtlpVariables } from "./variables.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

describe("F102: a variable of OpenTelemetry that is wrong is reported", () => {
  test.each<[Readonly<Record<string, string>>, string]>([
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" },
      'OTEL_EXPORTER_OTLP_ENDPOINT is "localhost:4318". Use an address that begins with http:// or https://. Nothing is sent.',
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "grpc://x:1" },
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is "grpc://x:1". Use an address that begins with http:// or https://. Nothing is sent.',
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPIONT: "http://x:1" },
      "Banyan does not read OTEL_EXPORTER_OTLP_ENDPIONT. Did you mean OTEL_EXPORTER_OTLP_ENDPOINT?",
    ],
    [{ OTEL_SERVICENAME: "x" }, "Banyan does not read OTEL_SERVICENAME. Did you mean OTEL_SERVICE_NAME?"],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc". Use "http/protobuf" or "http/json". Nothing is sent.',
    ],
    [
      { ...ENDPOINT, OTEL_TRACES_EXPORTER: "zipkin" },
      'OTEL_TRACES_EXPORTER is "zipkin". Use "otlp" or "none". Nothing is sent.',
    ],
    [
      { ...ENDPOINT, OTEL_TRACES_SAMPLER: "always" },
      'OTEL_TRACES_SAMPLER is "always". Use one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio. All traces are sent.',
    ],
    [
      { ...ENDPOINT, OTEL_TRACES_SAMPLER_ARG: "2" },
      'OTEL_TRACES_SAMPLER_ARG is "2". Use a number from 0 to 1. All traces are sent.',
    ],
    [
      { ...ENDPOINT, OTEL_BSP_SCHEDULE_DELAY: "5s" },
      'OTEL_BSP_SCHEDULE_DELAY is "5s". Use a whole number above 0. The default is used.',
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_TIMEOUT: "10s" },
      'OTEL_EXPORTER_OTLP_TIMEOUT is "10s". Use a whole number of milliseconds above 0. The default is used.',
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: "zstd" },
      'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION is "zstd". Use "gzip" or "none". Nothing is compressed.',
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: "x-key: abcdef" },
      "OTEL_EXPORTER_OTLP_HEADERS is not a list such as name=value,other=value.",
    ],
    [
      { ...ENDPOINT, OTEL_EXPORTER_OTLP_CERTIFICATE: "/nowhere.pem" },
      'OTEL_EXPORTER_OTLP_CERTIFICATE is "/nowhere.pem". Use the path of a file.',
    ],
    [
      { ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES: "team" },
      'OTEL_RESOURCE_ATTRIBUTES is "team". Use a list such as name=value,other=value. The variable is ignored.',
    ],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: "yes" }, 'OTEL_SDK_DISABLED is "yes". Use true or false.'],
  ])("%o", (env, notice) => {
    expect(readOtlpVariables(env).notices).toEqual([notice]);
  });

  test("what is right is not reported, nor what belongs to other programs", () => {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example.com/base/",
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://[::1]:4318/own",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20abc=, x=1",
      OTEL_EXPORTER_OTLP_TIMEOUT: "10000",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_RESOURCE_ATTRIBUTES: "team=garden,deployment.environment.name=test",
      OTEL_SDK_DISABLED: "false",
      OTEL_LOGS_EXPORTER: "otlp",
      OTEL_PROPAGATORS: "tracecontext",
      OTEL_LOG_LEVEL: "info",
      OTEL_SPAN_EVENT_COUNT_LIMIT: "1",
      OTEL_NODE_RESOURCE_DETECTORS: "env",
      OTEL_METRIC_EXPORT_TIMEOUT: "5",
      OTEL_BSP_MAX_QUEUE_SIZE: "9",
      OTEL_PYTHON_LOG_LEVEL: "x",
    };
    const { notices, traces, metrics } = readOtlpVariables(env);
    expect(notices).toEqual([]);
    expect([traces?.address.href, metrics?.address.href]).toEqual([
      "https://collector.example.com/base/v1/traces",
      "http://[::1]:4318/own",
    ]);
    expect(readOtlpVariables({ ...env, OTEL_SDK_DISABLED: "true" })).not.toHaveProperty("traces");
  });

  test("all variables that the docs name are read", () => {
    const docs = readFileSync(fileURLToPath(new URL("../../../docs/telemetry.md", import.meta.url)), "utf8");
    const named = [...new Set(docs.match(/OTEL_[A-Z_]*[A-Z]/g))];
    expect(named.length).toBeGreaterThan(10);
    expect(readOtlpVariables(Object.fromEntries(named.map((name) => [name, ""]))).notices).toEqual([]);
  });
});

describe("F102: the last sending", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  async function closing(url: string) {
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", url);
    const failed: string[] = [];
    const otlp = await openOtlp({
      env: process.env,
      service: "test",
      redact: (text) => text,
      failed: (why) => failed.push(why),
    });
    const session = Session.inMemory();
    otlp.telemetry.follow(session);
    await new Agent({ model: scriptedModel(["Hello"]) }).send("Hi", { session });
    const from = performance.now();
    await otlp.close();
    return { took: performance.now() - from, failed };
  }

  test("ends early where nobody listens", async () => {
    const { took, failed } = await closing("http://127.0.0.1:9");
    expect(took).toBeLessThan(1_000);
    expect(failed).toContain("The last telemetry could not be sent: the connection was refused.");
  });

  test("takes two seconds at most where a collector hangs", async () => {
    const server = createServer(() => {}).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { took, failed } = await closing(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect([took > 1_900, took < 2_900]).toEqual([true, true]);
    expect(failed).toContain("The last telemetry could not be sent within 2 seconds.");
    server.closeAllConnections();
    server.close();
  });
});

describe("F102: only the environment that the caller names counts", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  async function collector() {
    const requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
    const server = createServer(async (request, response) => {
      requests.push({ path: request.url ?? "", headers: request.headers, body: await text(request) });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close().closeAllConnections());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
  }

  test("address, headers and resource are its own, and those of the process go nowhere", async () => {
    const [named, other] = [await collector(), await collector()];
    vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", other.url);
    vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "x-secret=of-the-process");
    vi.stubEnv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    vi.stubEnv("OTEL_SERVICE_NAME", "process-service");
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: named.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "x-own=mine",
      OTEL_RESOURCE_ATTRIBUTES: "team=garden",
    };
    const before = { ...process.env };
    const otlp = await openOtlp({ env, service: "own-service", redact: (text) => text, failed: () => {} });
    expect({ ...process.env }).toEqual(before);
    const session = Session.inMemory();
    otlp.telemetry.follow(session);
    await new Agent({ model: scriptedModel(["Hello"]) }).send("Hi", { session });
    await otlp.close();
    expect(other.requests).toEqual([]);
    expect(named.requests.map(({ path }) => path).sort()).toEqual(["/v1/metrics", "/v1/traces"]);
    for (const { headers, body } of named.requests) {
      expect(headers).toMatchObject({ "x-own": "mine" });
      expect(headers).not.toHaveProperty("x-secret");
      expect(body).toContain('"team"');
      expect(body).toContain("own-service");
    }
  });
});
