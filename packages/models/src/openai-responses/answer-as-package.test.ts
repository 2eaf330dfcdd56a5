import type { ModelError, ModelSettings } from "@banyan/core";
import type { ModelPart } from "@banyan/core/drivers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { eventOf } from "../testing/server.ts";
import { joined, KeepingSink, say } from "../testing/sink.ts";
import { answers, any, plain } from "./generated.fixture.ts";
import { openDriver } from "./judge.fixture.ts";

function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

/** The parts of an answer that arrives in pieces of this many bytes, and the code of its error. */
async function read(name: string, driver: "own" | "package", body: Buffer, size: number, settings: ModelSettings = {}) {
  const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, at) =>
    body.subarray(at * size, (at + 1) * size),
  );
  const fetch = async () => {
    return new Response(streamOf(pieces), { headers: { "content-type": "text/event-stream" } });
  };
  const model = await openDriver(name, driver, fetch);
  const sink = new KeepingSink();
  const tools = [{ name: "look", description: "Looks.", input: { type: "object", properties: {} } }];
  const broke = await model.stream(say("Hi", { tools, settings }), sink, new AbortController().signal).then(
    () => undefined,
    (error: ModelError) => error.code,
  );
  return { parts: sink.parts, broke };
}

/**
 * Compares as the log stores parts, which has no undefined fields. The package of xAI repeats sources, and ends a text only with
 * the answer.
 */
const logged = (parts: readonly ModelPart[]) => {
  const known = new Set<string>();
  const kept = parts.filter((part) => {
    if (part.type === "part-end") return part.provider !== undefined;
    if (part.type !== "source") return true;
    const isNew = !known.has(part.url);
    known.add(part.url);
    return isNew;
  });
  return JSON.parse(JSON.stringify(joined(kept)));
};

test.each([
  ["openai/gpt-5", any],
  ["azure/my-deployment", any],
  ["xai/grok-4.5", plain],
] as const)(
  "V1: generated answers have the same parts as through the package, wherever they are cut: %s",
  async (name, items) => {
    await fc.assert(
      fc.asyncProperty(answers(items), fc.integer({ min: 1, max: 200 }), async (events, size) => {
        const body = Buffer.from(events.map(eventOf).join(""));
        const own = await read(name, "own", body, size);
        const theirs = await read(name, "package", body, body.length);
        expect({ ...own, parts: logged(own.parts) }).toEqual({ ...theirs, parts: logged(theirs.parts) });
      }),
      { numRuns: process.env.BANYAN_LONG ? 2_000 : 40 },
    );
  },
);

test("V1: the user's names of server tools are in the parts, as through the package", async () => {
  const serverTools = [
    { id: "openai.web_search", name: "web" },
    { id: "openai.code_interpreter", name: "python" },
    { id: "openai.file_search", name: "files", args: { vectorStoreIds: ["vs_1"] } },
  ] as const;
  await fc.assert(
    fc.asyncProperty(answers(any), async (events) => {
      const body = Buffer.from(events.map(eventOf).join(""));
      const own = await read("openai/gpt-5", "own", body, body.length, { serverTools });
      const theirs = await read("openai/gpt-5", "package", body, body.length, { serverTools });
      expect(logged(own.parts)).toEqual(logged(theirs.parts));
    }),
    { numRuns: 30 },
  );
});
