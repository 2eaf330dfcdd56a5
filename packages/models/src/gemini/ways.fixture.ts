import type { ModelDriver } from "@banyan/core";
import { ModelError } from "@banyan/core";
import type { ModelPart, ModelRequest } from "@banyan/core/drivers";
import { wireOptions } from "../provider/of-target.ts";
import type { ModelTarget } from "../provider/provider.ts";
import { google as facts } from "../provider/provider-facts.ts";
import { bodyOf, serve } from "../testing/server.ts";
import { KeepingSink, say } from "../testing/sink.ts";
import { geminiContent } from "./driver.ts";
import { googlePackage } from "./package.ts";

const targetAt = (address: string, model: string): ModelTarget => ({
  id: `google/${model}`,
  model,
  address: address.replace(/\/v1$/, "/v1beta"),
  apiKey: "k-secret",
  keyVariable: facts.keyVariable,
  proxy: undefined,
  variables: {},
});

/** Our own driver, and the provider's package. */
const WAYS: readonly ((target: ModelTarget) => ModelDriver | Promise<ModelDriver>)[] = [
  (target) => geminiContent(wireOptions(target)),
  googlePackage,
];

/** A driver's reading of a response. */
export interface Answered {
  readonly parts: readonly ModelPart[];
  /** The code of the error at the end. */
  readonly error: string | undefined;
  /** The bodies of the requests. */
  readonly bodies: readonly unknown[];
}

/** Returns what our own driver and the package make of these responses, without random ids. */
export async function answersTo(
  streams: readonly string[],
  request: ModelRequest = say("Hi"),
  model = "gemini-2.5-flash",
): Promise<{ own: Answered; theirs: Answered }> {
  const [own, theirs] = await Promise.all(WAYS.map((open) => answered(open, streams, request, model)));
  return { own: own as Answered, theirs: theirs as Answered };
}

async function answered(
  open: (typeof WAYS)[number],
  streams: readonly string[],
  request: ModelRequest,
  model: string,
): Promise<Answered> {
  const bodies: unknown[] = [];
  await using server = await serve(async (sent, response) => {
    bodies.push(JSON.parse(await bodyOf(sent)));
    response.writeHead(200, { "content-type": "text/event-stream" }).end(streams[bodies.length - 1]);
  });
  const sink = new KeepingSink();
  const driver = await open(targetAt(server.baseURL, model));
  const error = await driver.stream(request, sink, new AbortController().signal).then(
    () => undefined,
    (error: unknown) => (error instanceof ModelError ? error.code : String(error)),
  );
  return { parts: withoutRandom(sink.parts), error, bodies };
}

/** Numbers random ids in their order. The loop gives an id to a call without one, and the package a random one. */
function withoutRandom(parts: readonly ModelPart[]): ModelPart[] {
  const seen: string[] = [];
  const text = JSON.stringify(
    parts.map((part) => (part.type === "call" && UUID.test(part.id) ? { ...part, id: "" } : part)),
  );
  return JSON.parse(
    text.replaceAll(new RegExp(UUID, "g"), (id) => {
      if (!seen.includes(id)) seen.push(id);
      return `random ${seen.indexOf(id)}`;
    }),
  );
}

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
