import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Agent, type ModelDriver } from "@banyan/core";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelFunction } from "../provider/model-function.ts";
import { PEERS } from "../provider/peers.ts";
import { providers } from "../providers.ts";
import { resolveModel } from "../resolve.ts";
import { bodyOf, serve } from "../testing/server.ts";

const manifest: {
  readonly exports: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
} = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

/** The entries of providers, by the names of the providers. */
const names = Object.keys(manifest.exports).flatMap((path) => (path === "." ? [] : [path.slice(2)]));

async function functionOf(name: string): Promise<ModelFunction> {
  const module: Record<string, ModelFunction> = await import(`../entry/${name}.ts`);
  const [create, ...others] = Object.values(module);
  if (!create || others.length > 0) throw new Error(`The entry ${name} must export one function.`);
  return create;
}

const MODELS: Readonly<Record<string, string>> = { "amazon-bedrock": "eu.anthropic.claude-sonnet-5" };

function environment(name: string, address: string): Record<string, string> {
  const provider = providers.find((each) => each.name === name);
  return {
    [provider?.keyVariable ?? ""]: "test-key",
    [provider?.addressVariable ?? ""]: address,
    AWS_REGION: "eu-central-1",
  };
}

test("L9: each provider with a package of its own has an entry", () => {
  const withKey = providers.filter(({ needsKey, keyVariable }) => needsKey || keyVariable?.startsWith("AWS"));
  const sharing = ["openai-chat", "openrouter"];
  const expected = withKey.map(({ name }) => name).filter((name) => !sharing.includes(name));
  expect(names.toSorted()).toEqual([...expected, "openai-compatible"].toSorted());
});

describe.each(names)("the entry %s", (name) => {
  test("L9: makes the same driver as resolveModel, with the same request", async () => {
    interface Received {
      readonly url: string | undefined;
      readonly headers: IncomingHttpHeaders;
      readonly body: unknown;
    }
    const received: Received[] = [];
    await using server = await serve(async (request, response) => {
      const { url, headers } = request;
      received.push({ url, headers: { ...headers, "content-length": "" }, body: JSON.parse(await bodyOf(request)) });
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"enough"}}');
    });
    const address = server.baseURL.replace(/\/v1$/, "");
    const model = MODELS[name] ?? "m";
    const env = environment(name, address);
    const create = await functionOf(name);
    const { AWS_REGION, AWS_BEARER_TOKEN_BEDROCK: apiKey = "test-key" } = env;
    const drivers = [
      await resolveModel(`${name}/${model}:high`, { env }),
      create(`${model}:high`, { env }),
      create(model, { apiKey, baseURL: address, env: { AWS_REGION }, settings: { effort: "high" } }),
    ];
    for (const driver of drivers) await new Agent({ model: driver }).send("Hello").catch(() => {});
    const [first] = received;
    expect(received).toEqual([first, first, first]);
    const facts = ({ id, address, settings, family }: ModelDriver) => ({ id, address, settings, family });
    const [resolved, entered, passed] = drivers.map(facts);
    expect(entered).toEqual(resolved);
    expect(passed).toEqual({ ...resolved, id: `${name}/${model}` });
  });

  test("L9: names the missing or wrong part in one sentence", async () => {
    const create = await functionOf(name);
    const own = environment(name, "http://127.0.0.1:9");
    expect(() => create("")).toThrow(/^\w+ needs the name of a model, as in \w+\("[^"]+"\)\.$/);
    expect(() => create("m", { env: own, apikey: "k" } as never)).toThrow(
      /^apikey is no option of \w+; did you mean apiKey\?$/,
    );
    expect(() => create("m", { env: own, baseURL: "localhost:1" })).toThrow(
      /^baseURL of \w+ must be an address like http:\/\/127\.0\.0\.1:8080\/v1, not "localhost:1"\.$/,
    );
    expect(() => create("m", { env: own, fetch: "fetch" as never })).toThrow(/^fetch of \w+ must be a function/);
    expect(() => create("m", { env: {} })).toThrow(
      name === "amazon-bedrock"
        ? /^amazon-bedrock needs credentials\. Set AWS_REGION and/
        : /^[\w-]+ needs (a key|an address|the address of its server)\. Set .*, or pass (apiKey|baseURL)\.$/,
    );
  });
});

describe("over the wire", () => {
  const mock = new LLMock({ port: 0, chunkSize: 4, logLevel: "silent" });
  let address: string;

  beforeAll(async () => {
    address = await mock.start();
    mock.on({ userMessage: /tree/ }, { content: "A banyan." });
  });
  afterAll(() => mock.stop());

  test.each(["openai", "anthropic", "google", "openai-compatible"])("L9: %s answers", async (name) => {
    const version = name === "google" ? "v1beta" : "v1";
    const create = await functionOf(name);
    const model = create("test-model", {
      apiKey: "test-key",
      baseURL: `${address}/${version}`,
      price: { input: 1, output: 2 },
    });
    const { text, cost } = await new Agent({ model }).send("Which tree?");
    expect(text).toBe("A banyan.");
    expect(cost).toBeTypeOf("number");
  });
});

describe("packages of providers", () => {
  test("L9: each is an optional peer, with the major version that the advice names", () => {
    const majors = Object.entries(manifest.peerDependencies).map(([peer, range]) => [
      peer,
      Number(/^\^(\d+)\.\d+\.\d+$/.exec(range)?.[1]),
    ]);
    expect(Object.fromEntries(majors)).toEqual(PEERS);
    expect(manifest.peerDependenciesMeta).toEqual(
      Object.fromEntries(Object.keys(PEERS).map((peer) => [peer, { optional: true }])),
    );
  });

  test("L9: a missing package is named with the command that installs it, and others work without", async () => {
    // Node looks for the packages from an empty folder, as if none were installed.
    const program = `
      import { registerHooks } from "node:module";
      registerHooks({
        resolve: (specifier, context, next) =>
          next(specifier, specifier.startsWith("@ai-sdk/") ? { ...context, parentURL: "file:///empty/none.js" } : context),
      });
      const { embeddingModel, resolveModel } = await import(${JSON.stringify(new URL("../index.ts", import.meta.url))});
      const env = ${JSON.stringify(Object.assign({}, ...names.map((name) => environment(name, "http://127.0.0.1:9"))))};
      const names = ${JSON.stringify([...names, "openrouter", "openai-chat", "ollama"])};
      const said = ({ id, code, message }) => id ?? code + ": " + message;
      env.OPENROUTER_API_KEY = "test-key";
      for (const name of names) console.log(name, said(await resolveModel(name + "/m", { env }).catch((error) => error)));
      const embedding = embeddingModel("openai/m", { env });
      console.log("embedding", await embedding.doEmbed({ values: ["a"] }).catch(said));`;
    const flags = ["--input-type=module", "--eval", program];
    const cwd = fileURLToPath(new URL(".", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd });
    const missing = (peer: keyof typeof PEERS) =>
      `missing-package: This model needs the package ${peer}, which is not installed. Install it: npm install ${peer}@${PEERS[peer]}`;
    const ownDrivers = ["azure", "google", "openai", "openai-compatible", "xai"];
    expect(stdout.trimEnd().split("\n")).toEqual([
      ...names.map((name) => {
        const answer = ownDrivers.includes(name) ? `${name}/m` : missing(`@ai-sdk/${name}` as keyof typeof PEERS);
        return `${name} ${answer}`;
      }),
      "openrouter openrouter/m",
      "openai-chat openai-chat/m",
      "ollama ollama/m",
      `embedding ${missing("@ai-sdk/openai-compatible")}`,
    ]);
  });
});
