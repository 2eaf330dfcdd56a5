import { alarm } from "../model/alarm.ts";
import { failureOf, type ModelDriver, ModelError, type ModelRequest } from "../ports/model.ts";
import type { TurnRun } from "../run/run.ts";
import { SessionError } from "../session/error.ts";
import type { ResponseMessage } from "./response-message.ts";

/**
 * Calls the model and returns what went wrong, if anything did. An abort of the run, and a silence that is too long,
 * return an error at once, whatever the driver does then.
 */
export async function callModel(
  run: TurnRun,
  model: ModelDriver,
  request: ModelRequest,
  response: ResponseMessage,
): Promise<ModelError | undefined> {
  if (run.signal.aborted) return new ModelError("provider", "The run was interrupted.");
  const { idle = 120_000 } = run.agent.retry;
  const call = new AbortController();
  const ended = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    call.abort(reason);
    ended.reject(reason);
  };
  const abort = () => end(run.signal.reason);
  run.signal.addEventListener("abort", abort, { once: true });
  const unwatch = watchSilence(run, response, idle, () => {
    const seconds = idle / 1000;
    end(new ModelError("stalled", `${model.id} showed no sign of life for ${seconds} s; its stream counts as broken.`));
  });
  try {
    await Promise.race([model.stream(request, response, call.signal), ended.promise]);
    if (response.finish) return undefined;
    return new ModelError("broken-stream", `The stream of ${model.id} ended in the middle of an answer.`);
  } catch (error) {
    if (error instanceof SessionError) throw error;
    return failureOf(error, model.id, response);
  } finally {
    unwatch();
    run.signal.removeEventListener("abort", abort);
  }
}

/** How often a silence is looked at, at least, before it is too long. */
const LOOKS = 10;

/** Milliseconds after which people are told that they wait, and again each time. */
const TELL = 20_000;

/**
 * Calls `ring` when a model that has been listened to showed no sign of life for `idle` milliseconds, or up to a tenth longer: a
 * response counts only what was heard, since it does so with each read. Until then it tells who watches, every 20 seconds
 * in which the model says nothing, that they wait, and whether its connection lives. What is returned ends the watch.
 */
function watchSilence(run: TurnRun, response: ResponseMessage, idle: number, ring: () => void): () => void {
  const looksToTell = Math.max(1, Math.ceil((TELL * LOOKS) / idle));
  const pause = TELL / looksToTell;
  let { heard, said } = response;
  /** Looks in a row at which nothing was heard, and at which nothing was said. */
  let silent = 0;
  let wordless = 0;
  let alive = false;
  let cancel = () => {};
  const look = () => {
    const isHeard = response.heard !== heard;
    const isSaid = response.said !== said;
    ({ heard, said } = response);
    silent = isHeard || run.reader?.full ? 0 : silent + 1;
    if (silent * pause >= idle) return ring();
    wordless = isSaid ? 0 : wordless + 1;
    alive = !isSaid && (alive || isHeard);
    if (wordless > 0 && wordless % looksToTell === 0) {
      const time = wordless * pause;
      run.session.notify({ type: "model.waiting", run: run.id, message: response.id, time, alive }, run.origin);
      alive = false;
    }
    watch();
  };
  // A process that stood still itself reads first what came meanwhile.
  const watch = () => {
    cancel = alarm(pause, () => {
      const looking = setImmediate(look);
      cancel = () => clearImmediate(looking);
    });
  };
  watch();
  return () => cancel();
}
