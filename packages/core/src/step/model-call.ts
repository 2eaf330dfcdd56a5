import { alarm } from "../model/alarm.ts";
import { type ModelDriver, ModelError, type ModelRequest } from "../ports/model.ts";
import type { TurnRun } from "../run/run.ts";
import { SessionError } from "../session/error.ts";
import { messageOf } from "../toolbox/execute.ts";
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
  const unwatch = onSilence(run, response, idle, () => {
    const seconds = idle / 1000;
    end(new ModelError("stalled", `${model.id} showed no sign of life for ${seconds} s; its stream counts as broken.`));
  });
  const untell = tellOfWaiting(run, response);
  try {
    await Promise.race([model.stream(request, response, call.signal), ended.promise]);
    if (response.finish) return undefined;
    return new ModelError("broken-stream", `The stream of ${model.id} ended in the middle of an answer.`);
  } catch (error) {
    if (error instanceof ModelError) return error;
    if (error instanceof SessionError) throw error;
    return new ModelError("provider", messageOf(error), { cause: error, retryable: false });
  } finally {
    unwatch();
    untell();
    run.signal.removeEventListener("abort", abort);
  }
}

/** How often a silence is looked at before it is too long. */
const LOOKS = 10;

/**
 * Calls `ring` when a model that has been listened to showed no sign of life for `idle` milliseconds, or up to a tenth longer: a
 * response counts only what was heard, since it does so with each read. What is returned ends the watch.
 */
function onSilence({ reader }: TurnRun, response: ResponseMessage, idle: number, ring: () => void): () => void {
  let silent = 0;
  let heard = 0;
  let cancel = () => {};
  const watch = () => {
    // A process that stood still itself reads first what came meanwhile.
    cancel = alarm(idle / LOOKS, () => {
      const look = setImmediate(() => {
        silent = response.heard !== heard || reader?.full ? 0 : silent + 1;
        heard = response.heard;
        if (silent < LOOKS) watch();
        else ring();
      });
      cancel = () => clearImmediate(look);
    });
  };
  watch();
  return () => cancel();
}

/** Milliseconds after which people are told that they wait, and again each time. */
const TELL = 20_000;

/** Tells who watches when a model says nothing for long, and whether its connection lives. What is returned ends it. */
function tellOfWaiting({ session, id, origin }: TurnRun, response: ResponseMessage): () => void {
  let said = 0;
  let heard = 0;
  let time = 0;
  let cancel = () => {};
  const watch = () => {
    cancel = alarm(TELL, () => {
      time = response.said === said ? time + TELL : 0;
      const alive = response.heard !== heard;
      ({ said, heard } = response);
      if (time > 0) session.notify({ type: "model.waiting", run: id, message: response.id, time, alive }, origin);
      watch();
    });
  };
  watch();
  return () => cancel();
}
