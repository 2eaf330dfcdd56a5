import { errorMessage } from "../conversation/error-message.ts";
import type { EventBody } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import type { ModelPart } from "../ports/model.ts";
import type { Follower, FollowResult } from "../ports/tool-values.ts";
import type { Session } from "../session/session.ts";
import { withGrace } from "../toolbox/execute.ts";
import { assistantMessage, type RunBranch } from "./branch.ts";

interface FollowedRun {
  readonly id: string;
  readonly session: Session;
  readonly branch: RunBranch;
  readonly origin: object;
}

interface ListeningCall {
  readonly call: string;
  readonly message: string;
  readonly follower: Follower;
}

/**
 * The calls of one run whose tools read the text of later messages.
 * ```
 * follow ──▶ listening ──▶ completed     the message ended cleanly, and the follower acted on it
 *              │   ▲  ╰──▶ dropped       error, cut, interruption, limit, end of the turn, a defect of the follower
 *              ╰───╯ restarted           the response broke off and is requested again
 * ```
 * A message may break off at its last line and be requested again. So `text` only collects: acting on it would change a
 * file twice. `completed` acts when the message is on the disk, but before its calls, which may read the changes. The
 * notes of all followers become one message to the model.
 */
export class Followers {
  readonly #run: FollowedRun;
  readonly #listening = new Map<string, ListeningCall>();
  /** Notes for the model by followers that gave up in the middle of a message. */
  #said: string[] = [];
  /** Every read of a response checks this flag first, which saves a look at the lists. */
  #inUse = false;
  /** True if an action of a follower on the current message failed. */
  failed = false;

  constructor(run: FollowedRun) {
    this.#run = run;
  }

  /** Number of calls that follow, or have a note for the model. */
  get size(): number {
    return this.#inUse ? this.#listening.size + this.#said.length : 0;
  }

  follow(call: string, message: string, follower: Follower): void {
    this.#inUse = true;
    this.#listening.delete(call);
    this.#listening.set(call, { call, message, follower });
    this.#log({ type: "call.following", message, call, run: this.#run.id });
  }

  /** Passes model parts to the followers before any other receiver gets them. */
  hear(parts: readonly ModelPart[]): void {
    for (const part of parts) {
      if (part.type !== "text" && part.type !== "reasoning") continue;
      for (const listening of this.#listening.values()) {
        this.#guard(listening, ({ text }) => text?.call(listening.follower, part.text, part.type));
      }
    }
  }

  /** `parts`: the parts of the response in place of those that the followers have heard. */
  restart(parts: readonly ModelPart[] = []): void {
    for (const listening of this.#listening.values()) this.#guard(listening, (own) => own.restarted?.());
    this.hear(parts);
  }

  /** Lets each follower act on the completed response. Returns true if the model gets a message. */
  async complete(response: string, signal: AbortSignal): Promise<boolean> {
    const message = assistantMessage(this.#run.session, response);
    const events: EventBody[] = [];
    for (const listening of [...this.#listening.values()]) {
      const { call, message: caller, follower } = listening;
      const followed = { type: "call.followed", message: caller, call } as const;
      if (signal.aborted) {
        events.push(...this.#drop(listening, errorMessage(signal.reason)));
        continue;
      }
      let result: FollowResult | undefined | void;
      try {
        result = await withGrace(signal, async () => follower.completed?.(message));
      } catch (error) {
        const reason = errorMessage(error);
        this.failed = true;
        this.#said.push(brokeDown(this.#toolOf(caller, call), reason));
        if (this.#leave(listening)) events.push({ ...followed, outcome: "dropped", reason });
        continue;
      }
      if (result?.failed) this.failed = true;
      if (result?.say) this.#said.push(result.say);
      if (!result?.again && this.#leave(listening)) events.push({ ...followed, outcome: "completed" });
    }
    return this.#tell(events);
  }

  /** Drops all followers, so that none acts. Returns true if the model gets a message. */
  async drop(reason: string): Promise<boolean> {
    const events: EventBody[] = [];
    for (const listening of [...this.#listening.values()]) events.push(...this.#drop(listening, reason));
    return this.#tell(events);
  }

  #drop(listening: ListeningCall, reason: string): EventBody[] {
    const { call, message, follower } = listening;
    const said = dropped(follower, reason);
    if (said) this.#said.push(said);
    return this.#leave(listening) ? [{ type: "call.followed", message, call, outcome: "dropped", reason }] : [];
  }

  /** Removes a call, unless it has registered a new follower meanwhile. */
  #leave({ call, follower }: ListeningCall): boolean {
    if (this.#listening.get(call)?.follower !== follower) return false;
    return this.#listening.delete(call);
  }

  #guard(listening: ListeningCall, hand: (follower: Follower) => void): void {
    try {
      hand(listening.follower);
    } catch (error) {
      const { call, message, follower } = listening;
      const reason = errorMessage(error);
      this.#listening.delete(call);
      this.failed = true;
      const said = dropped(follower, reason);
      this.#said.push(said || brokeDown(this.#toolOf(message, call), reason));
      this.#log({ type: "call.followed", message, call, outcome: "dropped", reason });
    }
  }

  async #tell(events: EventBody[]): Promise<boolean> {
    const { id: run, session, branch, origin } = this.#run;
    const said = this.#said;
    this.#said = [];
    const message = createId();
    if (said.length > 0) {
      const parts = said.map((text) => ({ type: "text", text }) as const);
      const added = { type: "message.added", message, parentId: branch.leaf, run } as const;
      events.push({ ...added, role: "user", author: "tool", parts });
    }
    if (events.length > 0) await session.commit(events, { durable: true, origin });
    if (said.length > 0) branch.extend(message);
    return said.length > 0;
  }

  /** The next writer gets the error when the session cannot write any more. */
  #log(event: EventBody): void {
    this.#run.session.commit([event], { origin: this.#run.origin })?.catch(() => {});
  }

  #toolOf(message: string, call: string): string {
    return assistantMessage(this.#run.session, message).calls.find(({ id }) => id === call)?.tool ?? "a tool";
  }
}

function brokeDown(tool: string, reason: string): string {
  return `${tool} followed your message and failed: ${reason}. The tool may not have acted on the message.`;
}

/** Informs a follower that it was dropped, and returns its note. A follower that throws has no note. */
function dropped(follower: Follower, reason: string): string | undefined {
  try {
    return follower.dropped?.(reason) || undefined;
  } catch {
    return undefined;
  }
}
