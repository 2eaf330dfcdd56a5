import type { EventBody } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import type { Message } from "../conversation/message.ts";
import type { ConversationState, WaitingInput } from "../conversation/state.ts";
import { type TurnRun, tell } from "./run.ts";

const NONE: readonly WaitingInput[] = [];

/** What waits for a run and is not held: to be delivered at the run's safe points, or when it has ended. */
export function inputsFor(state: ConversationState, run: string): readonly WaitingInput[] {
  return state.inbox.length === 0 ? NONE : state.inbox.filter((input) => input.run === run && !input.held);
}

/** What waits, is for no live run, and was written to somebody on this path: `resume()` delivers it there. */
export function inputsLeft(state: ConversationState, path: readonly Message[]): readonly WaitingInput[] {
  const left = state.inbox.filter(({ run, held }) => held || run === null || !state.runs.has(run));
  if (left.length === 0) return NONE;
  const here = new Set(path.map(({ id }) => id));
  // What stood on a message that is gone can be delivered anywhere.
  return left.filter(({ at }) => at === null || here.has(at) || !state.messages.has(at));
}

/** Of texts that were to be delivered, those that wait still, as they are now: a person may have changed or withdrawn some. */
export function stillWaiting(state: ConversationState, inputs: readonly WaitingInput[]): readonly WaitingInput[] {
  const ids = new Set(inputs.map(({ id }) => id));
  return state.inbox.filter(({ id }) => ids.has(id));
}

/** The facts that make messages of what waited, one below the other; `run`, when it is live, ends behind them. */
export function deliver(inputs: readonly WaitingInput[], parentId: string | null, run?: string): EventBody[] {
  let parent = parentId;
  return inputs.flatMap(({ id, parts }): EventBody[] => {
    const added = {
      type: "message.added",
      message: id,
      parentId: parent,
      role: "user",
      author: "user",
      parts,
      ...(run === undefined ? {} : { run }),
    } as const;
    parent = id;
    return [added, { type: "input.delivered", input: id }];
  });
}

/** Delivers what steers the run, at the end of its branch. */
export async function deliverSteering(run: TurnRun): Promise<void> {
  const { session, branch, origin, id } = run;
  const inputs = inputsFor(session.state, id).filter(({ delivery }) => delivery === "steer");
  if (inputs.length === 0) return;
  await session.commit(deliver(inputs, branch.leaf, id), { durable: true, origin });
  for (const input of inputs) {
    const message = branch.extend(input.id);
    if (message.role === "user") await tell(run, "onInterjection", message);
  }
}

/** Says something to the model that no person said. */
export async function tellModel({ id: run, session, branch, origin }: TurnRun, text: string): Promise<void> {
  const message = createId();
  const added = { type: "message.added", message, parentId: branch.leaf, run, role: "user" } as const;
  await session.commit([{ ...added, author: "system", parts: [{ type: "text", text }] }], { origin });
  branch.extend(message);
}
