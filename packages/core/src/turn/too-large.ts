import { withWindow } from "../context/room.ts";
import { countContextTokens, estimate, roughCount, untilAborted } from "../context/tokens.ts";
import { errorMessage } from "../conversation/error-message.ts";
import { textOf, type UserMessage } from "../conversation/message.ts";
import { cutTo } from "../conversation/shown/visible-text.ts";
import { afterSummary, worktreeAt } from "../conversation/tree/path.ts";
import { type ModelDriver, ModelError } from "../ports/model.ts";
import { byteLength } from "../ports/runtime.ts";
import type { FallbackModel, RunWithModel, TurnRun } from "../run/run.ts";
import { askRun } from "./at-limit.ts";

/** Reacts to a failed model call. Returns the error that ends the turn, if the turn cannot continue. */
export async function afterFailure(
  asking: RunWithModel,
  error: ModelError,
  standIn: FallbackModel,
): Promise<ModelError | undefined> {
  if (error.code !== "context-overflow" && error.code !== "invalid-request") return error;
  const { repairOverflow } = await import("../context/overflow.ts");
  const repaired = await repairOverflow(asking, error, standIn);
  if (repaired !== "stuck") return repaired === "shorter" ? undefined : error;
  const { run, model } = withWindow(asking);
  const { contextSize } = run.agent.compaction ?? {};
  // Most of the refused request is one message: the same request must not be sent a third time.
  const settled = contextSize === undefined ? "fits" : await setAsideLarge(run, model, contextSize / 2);
  if (settled === "stored") return undefined;
  return settled === "fits" ? error : settled;
}

/** Moves a too large message to a file, or drops it, before a request (F93). Returns the error that ends the turn. */
export async function refuseTooLarge(run: TurnRun, model: ModelDriver): Promise<ModelError | undefined> {
  const { compaction, instructions, toolbox } = run.agent;
  const { contextSize, count = estimate } = compaction ?? {};
  // A summary may follow the unanswered message.
  const last = run.branch.path.findLast(({ role }) => role !== "summary");
  if (contextSize === undefined || last?.role !== "user") return undefined;
  const head = [instructions.text, toolbox.text];
  const bytes = [...head, ...unanswered(run).map(textOf)].reduce((sum, text) => sum + byteLength(text), 0);
  // Usually the request fits by any count, so nothing is counted.
  if (bytes < contextSize) return undefined;
  const taken = await untilAborted(run, (signal) => countContextTokens({ counted: 0, uncounted: head }, count, signal));
  // If instructions and tools leave no room, no message is to blame.
  if (taken === undefined || taken >= contextSize) return undefined;
  const settled = await setAsideLarge(run, model, contextSize - taken);
  return settled instanceof ModelError ? settled : undefined;
}

/**
 * If a request is as large as a refused one and nothing else shortens it, moves a large message to a file, or drops it.
 * Returns the error that ends the turn, if any.
 */
export async function refuseAgain(run: TurnRun, model: ModelDriver): Promise<ModelError | undefined> {
  const { wasRefused, contextSize } = run.agent.compaction ?? {};
  if (!wasRefused || contextSize === undefined || roughCount(run.branch.prompt(), run.agent) < contextSize)
    return undefined;
  const settled = await setAsideLarge(run, model, contextSize / 2);
  return settled instanceof ModelError ? settled : undefined;
}

/** Sets aside unanswered messages of at least `most` tokens: as a file if a user agrees, or else left out. */
async function setAsideLarge(run: TurnRun, model: ModelDriver, most: number): Promise<"fits" | "stored" | ModelError> {
  const count = run.agent.compaction?.count ?? estimate;
  let settled: "fits" | "stored" | ModelError = "fits";
  for (const message of unanswered(run)) {
    const uncounted = [textOf(message)];
    const size = await untilAborted(run, (signal) => countContextTokens({ counted: 0, uncounted }, count, signal));
    if (size === undefined || size < most) continue;
    const error = await setAside(run, model, message, size);
    if (run.signal.aborted) return "stored";
    if (!(settled instanceof ModelError)) settled = error ?? "stored";
  }
  return settled;
}

function unanswered({ branch }: TurnRun): UserMessage[] {
  const shown = afterSummary(branch.path);
  const from = shown.findLastIndex(({ role }) => role === "assistant") + 1;
  return shown
    .slice(from)
    .filter((message) => message.role === "user")
    .filter(({ author }) => author !== "system");
}

const BEGINNING = 1_000;

async function setAside(
  run: TurnRun,
  model: ModelDriver,
  message: UserMessage,
  tokens: number,
): Promise<ModelError | undefined> {
  const { storeText, compaction } = run.agent;
  const size = `about ${exactTokens(tokens)} tokens`;
  const window = exactTokens(compaction?.contextSize ?? tokens);
  const fact = `Your message has ${size}, but ${model.id} accepts at most ${window}`;
  let problem = "";
  // The task of a sub-agent is not a user's message: the parent agent gets the error and can react.
  if (storeText && run.call === undefined) {
    const agreed = await askRun(run, `${fact}. Store the message as a file that the model reads in parts?`, "file");
    if (run.signal.aborted) return undefined;
    if (agreed) {
      const { session } = run;
      const place = { conversation: session.id, message: message.id, worktree: worktreeAt(session.state, message.id) };
      try {
        await toldOfFile(run, message, size, await storeText(textOf(message), place));
        return undefined;
      } catch (error) {
        problem = `, and could not be stored: ${errorMessage(error)}`;
      }
    }
  }
  const text = `(The user wrote a message here that is too large for your context: ${size}. You are not shown it.)`;
  const { addShortening } = await import("../context/cut-results.ts");
  await addShortening(run, `The message above is too large for ${model.id}, so requests leave it out.`, [
    { message: message.id, text },
  ]);
  const advice =
    "it was not sent. Write a shorter message, name a file with the text, or choose a model with a larger context";
  return new ModelError("context-overflow", { fact: `${fact}${problem}`, advice });
}

async function toldOfFile(run: TurnRun, message: UserMessage, size: string, file: string): Promise<void> {
  const text = `The user's message is too large for your context (${size}), so it was stored as the file ${file}. Read the file in parts. The message begins:\n${cutTo(textOf(message), BEGINNING)}`;
  const { addShortening } = await import("../context/cut-results.ts");
  await addShortening(run, `The message above was stored as ${file}.`, [{ message: message.id, text }]);
}

function exactTokens(tokens: number): string {
  return Math.round(tokens).toLocaleString("en");
}
