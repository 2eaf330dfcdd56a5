import type { Event } from "../event.ts";
import type { MutableState, WaitingInput } from "../state.ts";

/** Puts what a person wrote behind what waits; nothing happens when it waits already. Returns whether it was put there. */
export function queueInput(state: MutableState, event: Extract<Event, { type: "input.queued" }>): boolean {
  const { input: id, parts, delivery, run } = event;
  if (state.inbox.some((other) => other.id === id)) return false;
  const at = (run === null ? undefined : state.runs.get(run)?.leaf) ?? state.leaf;
  state.inbox.push({ id, parts, delivery, run, at, held: run === null });
  return true;
}

/** What waited for a run that was stopped or failed waits for a person from now on, unless it is what stopped it. */
export function holdInputs(
  state: MutableState,
  { run, reason, leaf: at }: Extract<Event, { type: "run.ended" }>,
): void {
  const stopped = reason === "interrupted" || reason === "failed";
  state.inbox = state.inbox.map((input) => {
    if (input.run !== run) return input;
    const goesOn = !stopped || (input.delivery === "interrupt" && reason === "interrupted");
    return { ...input, at, held: goesOn ? input.held : true };
  });
}

/** Changes what waits, and where it stands. Returns whether it was there. */
export function editInput(state: MutableState, event: Extract<Event, { type: "input.edited" }>): boolean {
  const index = state.inbox.findIndex(({ id }) => id === event.input);
  const input = state.inbox[index];
  if (!input) return false;
  const { parts = input.parts, delivery = input.delivery, run = input.run, before } = event;
  const edited: WaitingInput = { ...input, parts, delivery, run, held: event.run === undefined && input.held };
  if (before === undefined) {
    state.inbox[index] = edited;
  } else {
    state.inbox.splice(index, 1);
    const place = before === null ? -1 : state.inbox.findIndex(({ id }) => id === before);
    state.inbox.splice(place < 0 ? state.inbox.length : place, 0, edited);
  }
  return true;
}
