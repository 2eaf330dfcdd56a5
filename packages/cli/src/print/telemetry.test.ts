import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer, shell } from "../testing/model-server.ts";

const SERVER = fileURLToPath(new URL("../mcp/program-server.fixture.ts", import.meta.url));

/** Received requests. */
const sent: { path: string; type: string | undefined; body: Buffer }[] = [];
const receiver = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    sent.push({ path: request.url ?? "", type: request.headers["content-type"], body: Buffer.concat(pieces) });
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
});
let endpoint: string;
let place: Home;
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(() => receiver.close());
beforeEach(() => {
  sent.length = 0;
  place = home();
});
afterEach(() => place[Symbol.dispose]());

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: object }[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly { readonly name: string; readonly traceId: string; readonly spanId: string }[];
    }[];
  }[];
}

test("the usual variables make OTLP over HTTP, complete before the program ends; an MCP server gets the trace", async () => {
  const small = { command: process.execPath, args: [SERVER] };
  mkdirSync(join(place.env.BANYAN_HOME ?? "", "config"), { recursive: true });
  writeFileSync(
    join(place.env.BANYAN_HOME ?? "", "config", "settings.json"),
    JSON.stringify({ mcpServers: { small } }),
  );
  await using server = await modelServer(
    shell("true"),
    { calls: [{ tool: "mcp_small_add", input: {} }] },
    { text: ["done"] },
  );
  const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" };
  const env = { ...server.env, ...otel, OTEL_SERVICE_NAME: "garden" };
  const { code, stdout, stderr } = await banyan(
    place,
    ["-p", "a secret", "--allow", "shell", "--allow", "mcp_small_*", "--model", "openai-compatible/test"],
    { env },
  );
  expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: "done\n" });
  const traces = sent
    .filter(({ path }) => path === "/v1/traces")
    .map(({ body }) => JSON.parse(body.toString()) as Sent);
  const [resource] = traces.flatMap(({ resourceSpans }) => resourceSpans);
  expect(resource?.resource.attributes).toContainEqual({ key: "service.name", value: { stringValue: "garden" } });
  const spans = traces.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
  expect(spans.map(({ name }) => name).toSorted()).toEqual([
    "chat test",
    "chat test",
    "chat test",
    "execute_tool mcp__small__add",
    "execute_tool shell",
    "invoke_agent banyan",
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const call = spans.find(({ name }) => name === "execute_tool mcp__small__add");
  expect(JSON.stringify(server.asked.at(-1))).toContain(`in 00-${call?.traceId}-${call?.spanId}-01`);
  expect(JSON.stringify(traces)).not.toContain("a secret");
  expect(sent.some(({ path, body }) => path === "/v1/metrics" && body.includes("gen_ai.invoke_agent.duration"))).toBe(
    true,
  );
});

test("telemetry sends Protobuf by default", async () => {
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/here` };
  const { code } = await banyan(place, ["-p", "hello"], { env });
  expect(code).toBe(0);
  expect(sent.map(({ path, type }) => [path, type])).toEqual([["/here", "application/x-protobuf"]]);
  expect(sent[0]?.body.includes("invoke_agent banyan")).toBe(true);
});

test("a missing receiver changes no output for the user, and the program's log notes it", async () => {
  const usual = await banyan(place, ["-p", "hello"]);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  expect(await banyan(place, ["-p", "hello"], { env })).toEqual(usual);
  const log = join(place.env.BANYAN_HOME ?? "", "state", "banyan.log");
  expect(readFileSync(log, "utf8")).toMatch(/"code":"telemetry","message":"(?:What|The) .* could not be sent/);
});

test("a variable's impossible choice is reported, and the program continues", async () => {
  const otel = {
    OTEL_TRACES_EXPORTER: "zipkin",
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "grpc",
    OTEL_TRACES_SAMPLER_ARG: "many",
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "perhaps",
  };
  const { code, stderr } = await banyan(place, ["-p", "hello"], { env: otel });
  expect(code).toBe(0);
  expect(stderr).toContain('OTEL_TRACES_EXPORTER is "zipkin"');
  expect(stderr).toContain('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL is "grpc"');
  expect(stderr).toContain('CAPTURE_MESSAGE_CONTENT is "perhaps"');
  expect(sent).toEqual([]);
});
