import { alarm } from "../model/alarm.ts";
import { type ModelDriver, ModelError, type ModelRequest, modelFailure } from "../ports/model.ts";
import { soon } from "../ports/runtime.ts";
import type { TurnRun } from "../run/run.ts";
import { SessionError } from "../session/error.ts";
import type { ResponseMessage } from "./response-message.ts";

/** Calls the model, and returns the error, if any. Returns at once after an abort or a long silence. */
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
    end(new ModelError("stalled", `${model.id} sent nothing for ${seconds} s, so Banyan treats the stream as broken.`));
  });
  try {
    await Promise.race([model.stream(request, response, call.signal), ended.promise]);
    if (response.finish) return undefined;
    return new ModelError("broken-stream", `The stream of ${model.id} ended in the middle of an answer.`);
  } catch (error) {
    if (error instanceof SessionError) throw error;
    return modelFailure(error, model.id, response);
  } finally {
    unwatch();
    run.signal.removeEventListener("abort", abort);
  }
}

/** Minimum number of checks before a silence is too long. */
const LOOKS = 10;

/** Milliseconds of waiting after which users get a notice, and the interval of further notices. */
const TELL = 20_000;

/**
 * Calls `ring` after `idle` milliseconds of silence, or up to a tenth longer. Every 20 seconds without a part, readers
 * get a notice with the state of the connection.
 */
function watchSilence(run: TurnRun, response: ResponseMessage, idle: number, ring: () => void): () => void {
  const looksToTell = Math.max(1, Math.ceil((TELL * LOOKS) / idle));
  const pause = TELL / looksToTell;
  let { heard, said } = response;
  /** Checks in a row without a sign of life, and without a part. */
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
  // A process that was itself suspended must first read the data that arrived meanwhile.
  const watch = () => {
    cancel = alarm(pause, () => {
      let isOver = false;
      cancel = () => {
        isOver = true;
      };
      soon(() => {
        if (!isOver) look();
      });
    });
  };
  watch();
  return () => cancel();
}
