import type { Event } from "../conversation/event.ts";

interface KnownRun {
  leaf: string | null;
  /**
   * True if the run wrote that message. If not, another run may begin there: at the start of the run, after an
   * abandoned response, or at a delivered input. Its response is then a sibling.
   */
  wrote: boolean;
}

interface KnownMessage {
  readonly parentId: string | null;
  /** For a response: the run that wrote it. */
  readonly run: string | undefined;
  /** Calls of the message without a result. */
  readonly open: Set<string>;
}

/**
 * Returns the faults in the order of a log, one sentence each: a call with two results, or started twice by one
 * process; a run that begins where another works, writes outside its branch, or continues from calls of another live
 * run; an input that is delivered twice, or never became a message.
 */
export function checkLog(log: readonly Event[]): string[] {
  const reader = new LogReader();
  for (const event of log) reader.read(event);
  return reader.problems;
}

class LogReader {
  readonly problems: string[] = [];
  readonly #live = new Map<string, KnownRun>();
  readonly #messages = new Map<string, KnownMessage>();
  readonly #ended = new Set<string>();
  /** The epoch of each call's last start. */
  readonly #started = new Map<string, number>();
  readonly #delivered = new Set<string>();
  #epoch = 0;

  read(event: Event): void {
    if (event.epoch !== this.#epoch) this.#live.clear();
    this.#epoch = event.epoch;
    switch (event.type) {
      case "run.started":
        for (const [run, { leaf, wrote }] of this.#live) {
          if (!wrote || leaf !== event.leaf) continue;
          this.#problem(`Run ${event.run} begins at ${leaf}, where run ${run} is at work.`);
        }
        this.#lookAt(event.run, event.leaf === null ? undefined : this.#messages.get(event.leaf));
        this.#live.set(event.run, { leaf: event.leaf, wrote: false });
        return;
      case "run.ended":
        this.#live.delete(event.run);
        return;
      case "message.added":
        this.#add(event.message, event.parentId, undefined);
        if (event.run !== undefined)
          this.#extend(event.run, event.message, event.parentId, !(event.role === "user" && event.author === "user"));
        return;
      case "message.started":
        this.#lookUp(event.run, event.parentId);
        this.#add(event.message, event.parentId, event.run);
        this.#extend(event.run, event.message, event.parentId, true);
        return;
      case "message.abandoned": {
        const message = this.#messages.get(event.message);
        for (const run of this.#live.values()) {
          if (run.leaf === event.message) Object.assign(run, { leaf: message?.parentId ?? null, wrote: false });
        }
        return;
      }
      case "call.pending":
        this.#messages.get(event.message)?.open.add(event.call);
        return;
      case "call.executing":
        if (this.#ended.has(event.call)) this.#problem(`Call ${event.call} was started after its result.`);
        if (this.#started.get(event.call) === event.epoch) {
          this.#problem(`Call ${event.call} was started twice by the writer of epoch ${event.epoch}.`);
        }
        this.#started.set(event.call, event.epoch);
        return;
      case "call.completed":
      case "call.failed":
      case "call.denied":
      case "call.cancelled":
        if (this.#ended.has(event.call)) this.#problem(`Call ${event.call} has two results.`);
        this.#ended.add(event.call);
        this.#messages.get(event.message)?.open.delete(event.call);
        return;
      case "input.delivered":
        if (this.#delivered.has(event.input)) this.#problem(`Text ${event.input} was delivered twice.`);
        if (!this.#messages.has(event.input)) {
          this.#problem(`Text ${event.input} was called delivered before it was a message.`);
        }
        this.#delivered.add(event.input);
    }
  }

  #add(message: string, parentId: string | null, run: string | undefined): void {
    this.#messages.set(message, { parentId, run, open: new Set() });
  }

  /** Extends a run's branch. The log has no run for an `agent.compact`. */
  #extend(run: string, message: string, parentId: string | null, wrote: boolean): void {
    const live = this.#live.get(run);
    if (!live) return;
    if (live.leaf !== parentId)
      this.#problem(`Run ${run} wrote ${message} below ${parentId}; its branch ends at ${live.leaf}.`);
    Object.assign(live, { leaf: message, wrote });
  }

  /** No run may ask a model about calls that another run is working on. */
  #lookUp(run: string, from: string | null): void {
    for (let id = from; id !== null; ) {
      const message = this.#messages.get(id);
      this.#lookAt(run, message);
      if (!message || message.run !== undefined) return;
      id = message.parentId;
    }
  }

  #lookAt(run: string, message: KnownMessage | undefined): void {
    if (message?.run === undefined || message.run === run) return;
    if (!this.#live.has(message.run) || message.open.size === 0) return;
    this.#problem(`Run ${run} goes on from ${[...message.open]}, calls that run ${message.run} has at work.`);
  }

  #problem(sentence: string): void {
    this.problems.push(sentence);
  }
}
