import type { EventBody } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import type { ModelPart } from "../ports/model.ts";
import type { Followed, Follower } from "../ports/tool.ts";
import { messageOf, withGrace } from "../toolbox/execute.ts";
import { assistantMessage, type TurnRun } from "./run.ts";

interface Listening {
  readonly call: string;
  /** The message of the call. */
  readonly message: string;
  readonly follower: Follower;
}

/**
 * The calls of one run that listen to what the model says.
 *
 * ```
 * follow ──▶ listening ──▶ completed     the message ended cleanly, and the follower did its work
 *              │   ▲  ╰──▶ dropped       error, cut, interruption, limit, end of the turn, a defect of the follower
 *              ╰───╯ restarted           the response broke off and is asked for anew
 * ```
 * The text arrives before anybody knows how the message ends. Were the block of `edit_mode` applied when its last line is
 * there, a message that breaks off in the next word, and is asked for anew, would have changed the file already, and the new
 * one changes it twice. So `text` only collects, and `completed` acts: when the message is on the disk, before its calls, which
 * may read what it changed.
 *
 * One that throws loses only itself. What followers have to say to the model becomes one message, in the order in which
 * they began to listen.
 */
export class Followers {
  readonly #run: Pick<TurnRun, "id" | "session" | "branch" | "origin">;
  readonly #listening = new Map<string, Listening>();
  /** What followers that gave up in the middle of a message have to say. */
  #said: string[] = [];
  /** Whether a call has ever listened: every read of a response asks, and the lists need not be looked at. */
  #inUse = false;
  /** Something that the message of this step asked for did not happen. */
  failed = false;

  constructor(run: Pick<TurnRun, "id" | "session" | "branch" | "origin">) {
    this.#run = run;
  }

  /** How many calls listen, or have something to say. */
  get size(): number {
    return this.#inUse ? this.#listening.size + this.#said.length : 0;
  }

  follow(call: string, message: string, follower: Follower): void {
    this.#inUse = true;
    this.#listening.delete(call);
    this.#listening.set(call, { call, message, follower });
    this.#log({ type: "call.following", message, call, run: this.#run.id });
  }

  /** Hands on what the model says, before anybody else gets it. */
  hear(parts: readonly ModelPart[]): void {
    for (const part of parts) {
      if (part.type !== "text" && part.type !== "reasoning") continue;
      for (const listening of this.#listening.values()) {
        this.#guard(listening, ({ text }) => text?.call(listening.follower, part.text, part.type));
      }
    }
  }

  /** The response broke off and begins anew. */
  restart(): void {
    for (const listening of this.#listening.values()) {
      this.#guard(listening, (follower) => follower.restarted?.());
    }
  }

  /**
   * The response is whole and in the log: each follower does what it listened for. Returns whether the model is told
   * something.
   */
  async complete(response: string, signal: AbortSignal): Promise<boolean> {
    const message = assistantMessage(this.#run.session, response);
    const events: EventBody[] = [];
    for (const listening of [...this.#listening.values()]) {
      const { call, message: caller, follower } = listening;
      const followed = { type: "call.followed", message: caller, call } as const;
      if (signal.aborted) {
        events.push(...this.#drop(listening, messageOf(signal.reason)));
        continue;
      }
      let result: Followed | undefined | void;
      try {
        result = await withGrace(signal, async () => follower.completed?.(message));
      } catch (error) {
        const reason = messageOf(error);
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

  /** Nothing of what was said counts. Returns whether the model is told something. */
  async drop(reason: string): Promise<boolean> {
    const events: EventBody[] = [];
    for (const listening of [...this.#listening.values()]) events.push(...this.#drop(listening, reason));
    return this.#tell(events);
  }

  #drop(listening: Listening, reason: string): EventBody[] {
    const { call, message, follower } = listening;
    const said = dropped(follower, reason);
    if (said) this.#said.push(said);
    return this.#leave(listening) ? [{ type: "call.followed", message, call, outcome: "dropped", reason }] : [];
  }

  /** Takes a call out, unless it has begun to listen anew meanwhile. */
  #leave({ call, follower }: Listening): boolean {
    if (this.#listening.get(call)?.follower !== follower) return false;
    return this.#listening.delete(call);
  }

  #guard(listening: Listening, hand: (follower: Follower) => void): void {
    try {
      hand(listening.follower);
    } catch (error) {
      const { call, message, follower } = listening;
      const reason = messageOf(error);
      this.#listening.delete(call);
      this.failed = true;
      const said = dropped(follower, reason);
      this.#said.push(said || brokeDown(this.#toolOf(message, call), reason));
      this.#log({ type: "call.followed", message, call, outcome: "dropped", reason });
    }
  }

  /** Writes down how listening ended, together with what the model is told of it. */
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

  /** Whoever writes next is told when the session can write no more. */
  #log(event: EventBody): void {
    this.#run.session.commit([event], { origin: this.#run.origin })?.catch(() => {});
  }

  #toolOf(message: string, call: string): string {
    return assistantMessage(this.#run.session, message).calls.find(({ id }) => id === call)?.tool ?? "a tool";
  }
}

function brokeDown(tool: string, reason: string): string {
  return `${tool} listened to your message and failed: ${reason}. It may not have acted on the message.`;
}

/** Tells a follower that it listened in vain; one that breaks down over it has nothing to say. */
function dropped(follower: Follower, reason: string): string | undefined {
  try {
    return follower.dropped?.(reason) || undefined;
  } catch {
    // It is gone already, and the reason that counts is the first one.
    return undefined;
  }
}
