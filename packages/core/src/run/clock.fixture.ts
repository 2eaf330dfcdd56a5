import { onTestFinished, vi } from "vitest";
import type { ModelDriver, ModelRequest } from "../ports/model.ts";

/** From now on time passes only when the test says so: no limit is used up by a machine that is busy. */
export function stopTheClock(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Lets so many milliseconds pass, once everything that needs no time has happened. */
export function letPass(milliseconds: number): void {
  setImmediate(() => vi.advanceTimersByTime(milliseconds));
}

/** A model at whose answers so many milliseconds pass, by whether it may call tools. */
export function taking<Model extends ModelDriver>(
  times: Readonly<Record<ModelRequest["toolChoice"], number>>,
  model: Model,
): Model {
  const stream: ModelDriver["stream"] = (request, sink, signal) => {
    letPass(times[request.toolChoice]);
    return model.stream(request, sink, signal);
  };
  return Object.create(model, { stream: { value: stream } });
}
