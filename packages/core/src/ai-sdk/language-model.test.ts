import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import type { ModelSink } from "../ports/model.ts";
import { fromLanguageModel, isLanguageModel } from "./language-model.ts";
import { failure, finish, model, Recorder } from "./provider.fixture.ts";
import { streamOf } from "./stream-of.fixture.ts";

describe("properties of a driver", () => {
  test("its id is the provider and the model, or the given id", () => {
    const large = model(() => streamOf([]));
    expect(fromLanguageModel(large)).toMatchObject({ id: "acme/large", family: "language-model" });
    const price = { input: 1, output: 2 };
    expect(fromLanguageModel(large, { id: "mine", price, contextSize: 9 })).toMatchObject({
      id: "mine",
      price,
      contextSize: 9,
    });
  });

  test("a model of another generation is refused with a remedy", () => {
    const old = { ...model(() => streamOf([])), specificationVersion: "v2" };
    expect(isLanguageModel(old)).toBe(false);
    expect(isLanguageModel(null)).toBe(false);
    expect(isLanguageModel(model(() => streamOf([])))).toBe(true);
    expect(() => fromLanguageModel(old as never)).toThrow(
      /version v2 .* v4 is required\. Update the package of the model/,
    );
    expect(() => fromLanguageModel("anthropic/claude" as never)).toThrow(/not a language model/);
  });
});

describe("an interruption", () => {
  test("B22: ends a silent stream, keeps its text, and rejects with the reason", async () => {
    let cancelled: unknown;
    const sink = new Recorder();
    const driver = fromLanguageModel(
      model(
        () =>
          new ReadableStream({
            start: (controller) => controller.enqueue({ type: "text-delta", id: "t", delta: "half" }),
            cancel: (reason) => {
              cancelled = reason;
            },
          }),
      ),
    );
    const control = new AbortController();
    const failed = failure(driver, sink, control.signal);
    await expect.poll(() => sink.parts.length).toBe(1);
    control.abort("enough");
    expect(await failed).toBe("enough");
    expect(sink.parts).toEqual([{ type: "text", text: "half" }]);
    expect(cancelled).toBe("enough");
  });

  test("ends the wait for a model that has not answered yet, and reports this; a late answer is dropped", async () => {
    let cancelled = false;
    const answer = Promise.withResolvers<{ stream: ReadableStream<LanguageModelV4StreamPart> }>();
    let signal: AbortSignal | undefined;
    const deaf: LanguageModelV4 = {
      ...model(() => streamOf([])),
      doStream: (options) => {
        signal = options.abortSignal;
        return answer.promise;
      },
    };
    const control = new AbortController();
    const failed = failure(fromLanguageModel(deaf), new Recorder(), control.signal);
    await expect.poll(() => signal).toBeDefined();
    control.abort(new Error("enough"));
    expect(await failed).toEqual(new Error("enough"));
    expect(signal?.aborted).toBe(true);
    answer.resolve({
      stream: new ReadableStream({
        cancel: () => {
          cancelled = true;
        },
      }),
    });
    await expect.poll(() => cancelled).toBe(true);
  });

  test("ends the wait for room", async () => {
    const control = new AbortController();
    const sink: ModelSink = { push: () => false, ready: () => new Promise(() => {}) };
    const endless = new ReadableStream<LanguageModelV4StreamPart>({
      pull: (controller) => controller.enqueue({ type: "text-delta", id: "t", delta: "x" }),
    });
    const failed = failure(fromLanguageModel(model(() => endless)), sink, control.signal);
    await new Promise((resolve) => setTimeout(resolve, 5));
    control.abort("enough");
    expect(await failed).toBe("enough");
  });

  test("before the start sends no request", async () => {
    const large = model(() => streamOf([finish]));
    expect(await failure(fromLanguageModel(large), new Recorder(), AbortSignal.abort("no"))).toBe("no");
    expect(large.asked).toEqual([]);
  });

  test("an abort error of the provider becomes the signal's reason", async () => {
    const control = new AbortController();
    const aborting: LanguageModelV4 = {
      ...model(() => streamOf([])),
      doStream: async () => {
        control.abort("enough");
        throw new DOMException("This operation was aborted", "AbortError");
      },
    };
    expect(await failure(fromLanguageModel(aborting), new Recorder(), control.signal)).toBe("enough");
  });
});
