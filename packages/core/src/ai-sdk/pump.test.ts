import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import type { ModelPart, ModelSink } from "../ports/model.ts";
import { fromLanguageModel } from "./language-model.ts";
import { end, failure, finish, model, never, Recorder, request } from "./provider.fixture.ts";
import { streamOf } from "./stream-of.fixture.ts";

describe("order and room", () => {
  const words = (count: number): LanguageModelV4StreamPart[] =>
    Array.from({ length: count }, (_, index) => ({ type: "text-delta", id: "t", delta: `${index} ` }));

  test("chunks that are there at once arrive in one batch, and later chunks in their own", async () => {
    const sink = new Recorder();
    const later = Promise.withResolvers<void>();
    const driver = fromLanguageModel(
      model(() => {
        const parts = async function* () {
          yield* words(3);
          await later.promise;
          yield* [...words(1), finish];
        };
        return streamOf(parts());
      }),
    );
    const done = driver.stream(request, sink, never());
    await expect.poll(() => sink.batches.length).toBe(1);
    later.resolve();
    await done;
    expect(sink.batches.map((batch) => batch.map((part) => ("text" in part ? part.text : part.type)))).toEqual([
      ["0 ", "1 ", "2 "],
      ["0 ", "part-end", "finish"],
    ]);
  });

  test("a long answer that is there at once keeps its order and lets other work run", async () => {
    const sink = new Recorder();
    let breaths = 0;
    const breathing = setInterval(() => breaths++, 0);
    await fromLanguageModel(model(() => streamOf([...words(100_000), finish]))).stream(request, sink, never());
    clearInterval(breathing);
    const text = sink.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    expect(text).toBe(Array.from({ length: 100_000 }, (_, index) => `${index} `).join(""));
    expect(Math.max(...sink.batches.map((batch) => batch.length))).toBeLessThan(1000);
    expect(breaths).toBeGreaterThan(0);
  });

  test("a full sink stops the reading until there is room (F19)", async () => {
    let pulled = 0;
    const source = new ReadableStream<LanguageModelV4StreamPart>(
      {
        pull(controller) {
          pulled++;
          controller.enqueue(pulled > 5000 ? finish : { type: "text-delta", id: "t", delta: "x" });
        },
      },
      { highWaterMark: 0 },
    );
    const room = Promise.withResolvers<void>();
    const parts: ModelPart[] = [];
    let full = true;
    const sink: ModelSink = {
      push(batch) {
        parts.push(...batch);
        return !full;
      },
      ready: () => room.promise,
    };
    const done = fromLanguageModel(model(() => source)).stream(request, sink, never());
    await expect.poll(() => parts.length).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const held = pulled;
    expect(held).toBeLessThan(1000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(pulled).toBe(held);
    full = false;
    room.resolve();
    await done;
    expect(parts.at(-1)).toEqual(end);
    expect(parts.filter((part) => part.type === "text")).toHaveLength(5000);
  });

  test("no chunk is pushed after the end", async () => {
    const sink = new Recorder();
    await fromLanguageModel(model(() => streamOf([...words(2), finish, ...words(2)]))).stream(request, sink, never());
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(sink.parts.at(-1)).toEqual(end);
  });

  test("a source that goes on after its end is left alone", async () => {
    let cancelled = false;
    const source = new ReadableStream<LanguageModelV4StreamPart>({
      pull: (controller) => controller.enqueue(finish),
      cancel: () => {
        cancelled = true;
      },
    });
    const sink = new Recorder();
    await fromLanguageModel(model(() => source)).stream(request, sink, never());
    await expect.poll(() => cancelled).toBe(true);
    expect(sink.parts).toEqual([end]);
  });

  test("a sink that throws an error ends the answer with this error", async () => {
    const broken: ModelSink = {
      push() {
        throw new RangeError("no more");
      },
      ready: () => Promise.resolve(),
    };
    const driver = fromLanguageModel(
      model(
        () =>
          new ReadableStream({
            start: (controller) => controller.enqueue({ type: "text-delta", id: "t", delta: "x" }),
          }),
      ),
    );
    expect(await failure(driver, broken)).toMatchObject({ cause: new RangeError("no more") });
  });
});
