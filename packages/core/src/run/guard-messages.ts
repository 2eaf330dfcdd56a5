import { DirectiveError } from "../conversation/checked/user-content.ts";
import { errorMessage } from "../conversation/error-message.ts";
import type { UserPart } from "../conversation/part.ts";
import { isJsonRecord } from "../conversation/shape-problem.ts";
import type { WaitingInput } from "../conversation/state.ts";
import { deliverInputs, inputsFor } from "../conversation/tree/inbox.ts";
import { orAborted } from "../model/alarm.ts";
import type { GuardedTurn, Guards, GuardVerdict } from "../ports/guards.ts";
import type { ModelPart } from "../ports/model.ts";
import { notify, type TurnRun } from "./run.ts";

export type InputGuard = NonNullable<Guards["input"]>;

/** Returns the parts of a user's message after the guard's check. Throws `DirectiveError` (`refused`). */
export async function guardedParts(run: TurnRun, guard: InputGuard, parts: readonly UserPart[]) {
  const verdict = await inputVerdict(run, guard, parts);
  if (verdict && "refuse" in verdict) throw new DirectiveError("refused", verdict.refuse);
  return replacedText(parts, verdict);
}

/** Changes or withdraws waiting messages, as the guard decides. Returns false if the run was aborted meanwhile. */
export async function guardInputs(
  run: TurnRun,
  guard: InputGuard,
  waiting: () => readonly WaitingInput[],
): Promise<boolean> {
  const { session, origin, id } = run;
  const passed = new Set<WaitingInput["parts"]>();
  const partsOf = (input: string) => waiting().find((other) => other.id === input)?.parts;
  for (;;) {
    if (run.signal.aborted) return false;
    const next = waiting().find(({ parts }) => !passed.has(parts));
    if (!next) return true;
    const { id: input, parts } = next;
    const verdict = await inputVerdict(run, guard, parts).catch(() => undefined);
    // The user may have changed or withdrawn the message meanwhile.
    if (run.signal.aborted || partsOf(input) !== parts) continue;
    if (verdict && "refuse" in verdict) {
      await session.commit([{ type: "input.withdrawn", input }], { durable: true, origin });
      const reason = `A message was withdrawn: ${verdict.refuse}`;
      session.notify({ type: "request.changed", run: id, reason }, origin);
      continue;
    }
    if (verdict) {
      await session.commit([{ type: "input.edited", input, parts: replacedText(parts, verdict) }], { origin });
    }
    passed.add(partsOf(input) ?? parts);
  }
}

/** Delivers waiting messages that steer the turn, at the end of the branch. Returns true if there were any. */
export async function deliverSteering(run: TurnRun): Promise<boolean> {
  const { session, agent, branch, origin, id } = run;
  const steering = () => inputsFor(session.state, id).filter(({ delivery }) => delivery === "steer");
  const guard = agent.guards?.input;
  if (guard && !(await guardInputs(run, guard, steering))) return false;
  const inputs = steering();
  if (inputs.length === 0) return false;
  await session.commit(deliverInputs(inputs, branch.leaf, id), { durable: true, origin });
  for (const input of inputs) {
    const message = branch.extend(input.id);
    if (message.role === "user") await notify(run, "onInterjection", message);
  }
  return true;
}

/** Returns the decision about a response. Rejects with the signal's reason when the run is aborted. */
export function outputVerdict(
  run: TurnRun,
  guard: NonNullable<Guards["output"]>,
  parts: readonly ModelPart[],
): Promise<GuardVerdict> {
  const written = (type: "text" | "reasoning") => parts.map((part) => (part.type === type ? part.text : "")).join("");
  const calls = parts.flatMap((part) => {
    if (part.type !== "call") return [];
    const { index, tool } = part;
    const input = parts.map((other) => (other.type === "call-input" && other.index === index ? other.text : ""));
    return [{ tool, input: input.join("") }];
  });
  const response = { text: written("text"), reasoning: written("reasoning"), calls };
  return askGuard(run, "output", (turn) => guard(response, turn));
}

async function inputVerdict(run: TurnRun, guard: InputGuard, parts: readonly UserPart[]): Promise<GuardVerdict> {
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const verdict = await askGuard(run, "input", (turn) => guard({ text, parts }, turn));
  if (!verdict || "refuse" in verdict || replacedText(parts, verdict).length > 0) return verdict;
  return { refuse: "guards.input left nothing of the message." };
}

async function askGuard(
  { agent, session, signal }: TurnRun,
  name: "input" | "output",
  judge: (turn: GuardedTurn) => unknown,
): Promise<GuardVerdict> {
  const { context } = agent;
  let verdict: unknown;
  try {
    const turn = { agent: agent.name, context, conversation: session.state, signal };
    verdict = await orAborted(Promise.resolve(judge(turn)), signal);
  } catch (error) {
    signal.throwIfAborted();
    return { refuse: `guards.${name} failed: ${errorMessage(error)}` };
  }
  return checkedVerdict(name, verdict);
}

/** Returns the decision of a guard. A guard that returns anything else refuses. */
export function checkedVerdict(name: "input" | "output", verdict: unknown): GuardVerdict {
  if (verdict === undefined) return undefined;
  const { refuse, replace } = isJsonRecord(verdict) ? verdict : {};
  if (typeof refuse === "string") return { refuse };
  if (typeof replace === "string") return { replace };
  return { refuse: `guards.${name} must return nothing, { refuse: "reason" } or { replace: "text" }.` };
}

/** Returns the parts with the text of the verdict in place of their own. */
export function replacedText(parts: readonly UserPart[], verdict: { readonly replace: string } | undefined) {
  if (!verdict) return parts;
  const files = parts.filter(({ type }) => type !== "text");
  // Models refuse empty texts.
  return verdict.replace.trim() === "" ? files : [{ type: "text", text: verdict.replace } as const, ...files];
}
