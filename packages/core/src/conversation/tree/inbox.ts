import type { Event, EventBody } from "../event.ts";
import type { Message } from "../message.ts";
import type { ConversationState, MutableState, WaitingInput } from "../state.ts";

/** Appends an input to the queue. Returns false if the input is queued already. */
export function queueInput(state: MutableState, event: Extract<Event, { type: "input.queued" }>): boolean {
  const { input: id, parts, unreadable, delivery, run } = event;
  if (state.inbox.some((other) => other.id === id)) return false;
  const at = (run === null ? undefined : (state.runs.get(run) ?? state.waiting.get(run))?.leaf) ?? state.leaf;
  const input: WaitingInput = { id, parts, delivery, run, at, held: run === null };
  state.inbox.push(unreadable === undefined ? input : { ...input, unreadable });
  return true;
}

/**
 * Holds the inputs of a stopped or failed run until the user sends them. An input that interrupted the run is not held.
 */
export function holdInputs(
  state: MutableState,
  { run, reason, leaf: at }: Extract<Event, { type: "run.ended" }>,
): void {
  const stopped = reason === "interrupted" || reason === "failed";
  state.inbox = state.inbox.map((input) => {
    if (input.run !== run) return input;
    const continues = !stopped || (input.delivery === "interrupt" && reason === "interrupted");
    return { ...input, at, held: continues ? input.held : true };
  });
}

/** Changes a waiting input and its position. Returns false if the input is not waiting. */
export function editInput(state: MutableState, event: Extract<Event, { type: "input.edited" }>): boolean {
  const index = state.inbox.findIndex(({ id }) => id === event.input);
  const input = state.inbox[index];
  if (!input) return false;
  const { delivery = input.delivery, run = input.run, before } = event;
  const { parts, unreadable } = event.parts === undefined ? input : { ...event, parts: event.parts };
  const { id, at } = input;
  const held = event.run === undefined && input.held;
  const edited: WaitingInput = { id, parts, ...(unreadable !== undefined && { unreadable }), delivery, run, at, held };
  if (before === undefined) {
    state.inbox[index] = edited;
  } else {
    state.inbox.splice(index, 1);
    const place = before === null ? -1 : state.inbox.findIndex(({ id }) => id === before);
    state.inbox.splice(place < 0 ? state.inbox.length : place, 0, edited);
  }
  return true;
}

const NONE: readonly WaitingInput[] = [];

/** Returns a run's inputs, without held inputs. */
export function inputsFor(state: ConversationState, run: string): readonly WaitingInput[] {
  return state.inbox.length === 0 ? NONE : state.inbox.filter((input) => input.run === run && !input.held);
}

/** Returns the waiting inputs of a path on which no run is live. `resume()` delivers these inputs. */
export function inputsLeft(state: ConversationState, path: readonly Message[]): readonly WaitingInput[] {
  const isLeft = (run: string | null) => run === null || !(state.runs.has(run) || state.waiting.has(run));
  const left = state.inbox.filter(({ run, held }) => held || isLeft(run));
  if (left.length === 0) return NONE;
  const here = new Set(path.map(({ id }) => id));
  // Inputs for a forgotten message can be delivered anywhere.
  return left.filter(({ at }) => at === null || here.has(at) || !state.messages.has(at));
}

/** Returns the inputs that still wait, in the form to which users have changed them. */
export function stillWaiting(state: ConversationState, inputs: readonly WaitingInput[]): readonly WaitingInput[] {
  const ids = new Set(inputs.map(({ id }) => id));
  return state.inbox.filter(({ id }) => ids.has(id));
}

/** Returns the events that turn inputs into messages, one below the other. */
export function deliverInputs(inputs: readonly WaitingInput[], parentId: string | null, run?: string): EventBody[] {
  let parent = parentId;
  return inputs.flatMap(({ id, parts, unreadable }): EventBody[] => {
    const added = {
      type: "message.added",
      message: id,
      parentId: parent,
      role: "user",
      author: "user",
      parts,
      ...(unreadable === undefined ? {} : { unreadable }),
      ...(run === undefined ? {} : { run }),
    } as const;
    parent = id;
    return [added, { type: "input.delivered", input: id }];
  });
}
