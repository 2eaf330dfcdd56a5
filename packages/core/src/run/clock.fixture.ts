import { onTestFinished, vi } from "vitest";
import type { ModelDriver } from "../ports/model.ts";

/** Makes time pass only when the test says so, so that a busy machine uses up no limit. */
export function stopTheClock(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Lets `milliseconds` pass, after all pending work that needs no time. */
export function letPass(milliseconds: number): void {
  setImmediate(() => vi.advanceTimersByTime(milliseconds));
}

/** A model whose answers take the given milliseconds, by the request's `toolChoice`. */
export function taking<Model extends ModelDriver>(
  times: Readonly<Record<"auto" | "none", number>>,
  model: Model,
): Model {
  const stream: ModelDriver["stream"] = (request, sink, signal) => {
    letPass(times[request.toolChoice === "none" ? "none" : "auto"]);
    return model.stream(request, sink, signal);
  };
  return Object.create(model, { stream: { value: stream } });
}
