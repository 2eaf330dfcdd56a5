import { setTimeout as sleep } from "node:timers/promises";
import { type ConversationState, newestLeaf, type Store } from "@banyan/core";
import type { Command, Problem } from "@banyan/protocol";
import { rights } from "@banyan/protocol/desk";
import { type Owner, runsToGoOnWith, type Shared, Takeover } from "@banyan/store/postgres";
import type { DeskCommand } from "../desk/commands/workplace.ts";
import type { Elsewhere, Watchable } from "../desk/elsewhere.ts";
import type { LiveConversation } from "../desk/live/live-conversation.ts";
import type { LiveConversations } from "../desk/live/live-conversations.ts";
import type { Outcome, Performer } from "../desk/perform.ts";
import { GUEST, OWNER, type Principal } from "../desk/principal.ts";
import { MovingConversation } from "./moving-conversation.ts";
import { WrittenConversation } from "./written-conversation.ts";

/** What becomes of a run whose node died: another one goes on with it, or leaves it to a person. */
export type Redrive = "resume" | "leave";

/** Milliseconds: between two looks at an outcome, the first and the longest; for what waits here; for what a dead node left. */
const FIRST_LOOK = 20;
const LONGEST_LOOK = 1_000;
const WAITING = 1_000;
const LEFT = 2_000;
/** Milliseconds for which a command waits for a node that may take its conversation. */
const PATIENCE = 20_000;

/** What makes a server one of many. */
export interface ClusterOptions {
  readonly shared: Shared;
  /** Where conversations are kept. */
  readonly store: Pick<Store, "view">;
  readonly redrive: Redrive;
  /** The tokens of this server, which are those of the others too. */
  readonly tokens: { readonly owner: string; readonly guest: string | undefined };
  /** Hears of what went wrong that nobody asked for. */
  defect(error: unknown): void;
  /** Hears, in a sentence, what whoever runs the servers can mend. */
  told(sentence: string): void;
}

/** The desk of this node. */
export interface ClusterDesk {
  readonly conversations: LiveConversations;
  readonly performer: Performer;
  /** What the list says of a conversation may have changed. */
  changed(conversation: string): void;
}

/**
 * This server among those that share its database. A command goes to whoever has its conversation: into the inbox, where the owner
 * finds it by the doorbell, carries it out, once, and leaves what became of it. What a dead node left is taken over.
 *
 * ```
 * command ──▶ open here, or nobody's ──▶ carried out here
 *         ──▶ another node's ──▶ inbox ──bell──▶ owner ──▶ outcome ──bell──▶ answer
 * lease over, or something waits and nobody has it ──▶ opened here ──▶ what waits, then what ran
 * ```
 */
export class Cluster implements Elsewhere {
  readonly #options: ClusterOptions;
  #desk: ClusterDesk | undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  #unlisten: (() => void) | undefined;
  /** What hears of a ring for a conversation. */
  readonly #bells = new Map<string, Set<() => void>>();
  /** What is being carried out of the inbox. */
  readonly #answering = new Map<string, Promise<void>>();
  /** Conversations that are read in the database, since who has them cannot be reached. */
  readonly #written = new Map<string, WrittenConversation>();
  readonly #looks = new Map<string, Promise<Owner | undefined>>();
  /** When it was told last of a node that it cannot be reached, in milliseconds of the process. */
  readonly #toldUnreachable = new Map<string, number>();
  readonly #takeover: Takeover;
  /** Those in which what was left has been gone on with. */
  readonly #seen = new WeakSet<LiveConversation>();
  #isDraining = false;

  constructor(options: ClusterOptions) {
    this.#options = options;
    const { shared, defect } = options;
    const take = (conversation: string) => this.#take(conversation);
    this.#takeover = new Takeover({ shared, takesWaiting: true, take, defect });
  }

  /** Begins to answer for others, and tells them where this node is. Rejects with `StoreError`. */
  async begin(desk: ClusterDesk, address: string): Promise<void> {
    this.#desk = desk;
    const { shared, defect } = this.#options;
    await shared.begin(address);
    this.#unlisten = shared.listen((conversations) => this.#hear(conversations));
    const every = (time: number, work: () => Promise<void>) => {
      this.#timers.push(setInterval(() => work().catch(defect), time).unref());
    };
    every(WAITING, () => this.#answerWaiting());
    // Not all at the same moment.
    every(LEFT * (0.75 + Math.random() / 2), () => this.#sweep());
  }

  /** Whether a balancer may send clients here. */
  async isReady(): Promise<boolean> {
    return !this.#isDraining && (await this.#options.shared.isReady());
  }

  async perform(command: Command<DeskCommand>, principal: Principal, here: () => Promise<Outcome>): Promise<Outcome> {
    const conversation = "conversation" in command ? command.conversation : undefined;
    // To look needs no owner: all that is written is in the database.
    if (conversation === undefined || rights[command.type] === "watch") return here();
    try {
      return await this.#perform(conversation, command, principal, here);
    } catch (error) {
      return this.#failed(error);
    }
  }

  async watchable(conversation: string, principal: Principal, here: () => Promise<Watchable>): Promise<Watchable> {
    const { store, tokens } = this.#options;
    const token = principal.rights.includes("act") ? tokens.owner : tokens.guest;
    return new MovingConversation(conversation, {
      find: async () => {
        const owner = this.#isOpenHere(conversation) ? undefined : await this.#lookFor(conversation);
        if (!owner || owner.isHere) return { here: await this.#openedBy(conversation, here) };
        // A program that is no server can be asked nothing.
        if (owner.address === undefined || token === undefined) return {};
        return { node: { address: owner.address, token, client: "banyan node" } };
      },
      written: () => this.#writtenOf(conversation),
      end: async () => (await store.view(conversation)).seq,
      listen: (hearing) => this.#listen(conversation, hearing),
      unreachable: (node, error) => this.#tellUnreachable(node.address, error),
      flush: () => this.#desk?.conversations.ifOpen(conversation)?.flush(),
    });
  }

  /**
   * Takes nothing on any more, and waits until what runs here has ended, at most for so many milliseconds. What is then still at
   * work is handed over: `close` interrupts it, with its facts in the log, and another node goes on with it.
   */
  async drain(time: number, close: () => Promise<void>): Promise<void> {
    this.#isDraining = true;
    const until = performance.now() + time;
    while (this.#atWork().length > 0 && performance.now() < until) await sleep(50);
    const left = this.#atWork();
    for (const timer of this.#timers) clearInterval(timer);
    this.#unlisten?.();
    await Promise.allSettled(this.#answering.values());
    await close();
    for (const { live, run, places } of left) {
      const { id: conversation, state } = live.session;
      const command = { type: "turn.resume", id: `${run}-on`, conversation, ...placeIn(state, places) };
      await this.#options.shared.ask(`owner ${command.id}`, conversation, JSON.stringify({ command, by: "owner" }));
    }
  }

  async #perform(
    conversation: string,
    command: Command<DeskCommand>,
    principal: Principal,
    here: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const { shared } = this.#options;
    const id = `${principal.name} ${command.id}`;
    const until = performance.now() + PATIENCE;
    for (let isAsked = false; ; ) {
      const owner = this.#isOpenHere(conversation) ? undefined : await shared.ownerOf(conversation);
      if (!owner || owner.isHere) {
        if (this.#isDraining && !this.#isOpenHere(conversation)) return { error: STOPPING };
        const outcome = await this.#openedBy(conversation, here);
        // Somebody took it between the two looks, or while this node slept, or this machine may not have it.
        const isTaken = isLocked(outcome) || (isFailed(outcome) && (await this.#isElsewhere(conversation)));
        if (!isTaken || performance.now() > until) {
          if (isAsked) await shared.answer(id, conversation, JSON.stringify({ ...outcome, cause: undefined }));
          return outcome;
        }
      }
      // A program that is no server carries out nothing for others: the refusal says which it is.
      if (owner && !owner.isHere && owner.address === undefined) return here();
      if (!isAsked) await shared.ask(id, conversation, JSON.stringify({ command, by: principal.name }));
      isAsked = true;
      const outcome = await this.#outcomeOf(id, conversation);
      if (outcome) return outcome;
    }
  }

  /** What the owner made of it; nothing when there is no owner any more, or none yet. */
  async #outcomeOf(id: string, conversation: string): Promise<Outcome | undefined> {
    const { shared } = this.#options;
    let hasOwner = true;
    for (let wait = FIRST_LOOK; ; wait = Math.min(2 * wait, LONGEST_LOOK)) {
      // Who listens before the look misses no bell.
      const bell = this.#bell(conversation, wait);
      const outcome = await shared.outcomeOf(id);
      if (outcome !== undefined) return JSON.parse(outcome) as Outcome;
      if (!hasOwner) return undefined;
      await bell;
      hasOwner = (await shared.ownerOf(conversation)) !== undefined;
    }
  }

  /** Resolves when a conversation is rung for, or after so many milliseconds. */
  #bell(conversation: string, wait: number): Promise<void> {
    const rung = Promise.withResolvers<void>();
    const unlisten = this.#listen(conversation, rung.resolve);
    const timer = setTimeout(rung.resolve, wait);
    return rung.promise.finally(() => {
      clearTimeout(timer);
      unlisten();
    });
  }

  #listen(conversation: string, hearing: () => void): () => void {
    const bells = this.#bells.get(conversation) ?? new Set();
    // Each time another one: the same may listen twice.
    const bell = () => hearing();
    this.#bells.set(conversation, bells.add(bell));
    return () => {
      bells.delete(bell);
      if (bells.size === 0 && this.#bells.get(conversation) === bells) this.#bells.delete(conversation);
    };
  }

  /** Who has a conversation: asked once for all who lost it at the same moment. */
  #lookFor(conversation: string): Promise<Owner | undefined> {
    const known = this.#looks.get(conversation);
    if (known) return known;
    const look = this.#options.shared.ownerOf(conversation).finally(() => this.#looks.delete(conversation));
    this.#looks.set(conversation, look);
    return look;
  }

  #writtenOf(conversation: string): WrittenConversation {
    const known = this.#written.get(conversation);
    if (known) return known;
    const written: WrittenConversation = new WrittenConversation(conversation, {
      store: this.#options.store,
      bell: () => this.#bell(conversation, LONGEST_LOOK),
      over: () => this.#written.get(conversation) === written && this.#written.delete(conversation),
    });
    this.#written.set(conversation, written);
    return written;
  }

  /** Once a minute for each: whoever runs the nodes can mend it, whoever watches reads on meanwhile. */
  #tellUnreachable(address: string, error: unknown): void {
    const now = performance.now();
    if (now - (this.#toldUnreachable.get(address) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    this.#toldUnreachable.set(address, now);
    const why = error instanceof Error ? error.message : String(error);
    this.#options.told(
      `The server at ${address} cannot be reached from here (${why}); see that its --address is right, and the tokens are the same. What it has open is read in the database meanwhile.`,
    );
  }

  #hear(conversations: readonly string[] | undefined): void {
    const { defect } = this.#options;
    const rung = conversations ?? [...this.#bells.keys()];
    for (const conversation of rung) for (const ring of this.#bells.get(conversation) ?? []) ring();
    for (const conversation of conversations ?? []) this.#desk?.changed(conversation);
    const isOther = conversations?.some((conversation) => !this.#isOpenHere(conversation));
    this.#answerWaiting().catch(defect);
    if (isOther) this.#sweep().catch(defect);
  }

  /** Carries out what others ask of the conversations that are open here. */
  async #answerWaiting(only?: string): Promise<void> {
    const open = this.#desk?.conversations.allOpen.map(({ session }) => session.id) ?? [];
    const waiting = await this.#options.shared.waiting(only === undefined ? open : [only]);
    await Promise.all(waiting.map((one) => this.#answer(one)));
  }

  #answer({ id, conversation, body }: Awaited<ReturnType<Shared["waiting"]>>[number]): Promise<void> {
    const { shared } = this.#options;
    const answer = async () => {
      const { command, by } = JSON.parse(body) as { command: Command<DeskCommand>; by: Principal["name"] };
      const outcome = await this.#desk?.performer.performHere(command, by === "owner" ? OWNER : GUEST);
      // One that could not be opened here, or is being closed, is somebody else's.
      if (!outcome || isLocked(outcome) || isStopping(outcome)) return;
      await shared.answer(id, conversation, JSON.stringify(outcome));
    };
    const known = this.#answering.get(id);
    if (known) return known;
    const answering = answer().finally(() => this.#answering.delete(id));
    this.#answering.set(id, answering);
    return answering;
  }

  /** Takes over what nobody has, and somebody wants. */
  async #sweep(): Promise<void> {
    if (!this.#isDraining) await this.#takeover.look();
  }

  async #take(conversation: string): Promise<void> {
    const desk = this.#desk;
    if (!desk || this.#isOpenHere(conversation)) return;
    const live = await desk.conversations.open(conversation);
    await this.#answerWaiting(conversation);
    await this.#goOn(live);
  }

  /** Goes on with the runs of a conversation that a node left in the middle when it died, once for each opening here. */
  async #goOn(live: LiveConversation | undefined): Promise<void> {
    const { shared, redrive, defect } = this.#options;
    if (!live || redrive === "leave" || this.#seen.has(live)) return;
    this.#seen.add(live);
    const { session } = live;
    const runs = await runsToGoOnWith(session, shared).catch((error: unknown) => {
      this.#seen.delete(live);
      throw error;
    });
    for (const { id, leaf } of runs) {
      const command = { type: "turn.resume" as const, id: `${id}-${session.cursor.epoch}`, conversation: session.id };
      const at = placeIn(session.state, [leaf]);
      const outcome = await this.#desk?.performer.performHere({ ...command, ...at }, OWNER);
      // What had come to its end by itself needs nobody to go on with it.
      if (outcome && "error" in outcome && outcome.error.code !== "invalid")
        defect(new Error(`${session.id} cannot be gone on with: ${outcome.error.message}`));
    }
  }

  /** Opens a conversation here by `here`, and goes on with what was left in it. */
  async #openedBy<Result>(conversation: string, here: () => Promise<Result>): Promise<Result> {
    const result = await here();
    this.#goOn(this.#desk?.conversations.ifOpen(conversation)).catch(this.#options.defect);
    return result;
  }

  /** The runs that are at work here, each with the last message on its path and the one above it. */
  #atWork(): { readonly live: LiveConversation; readonly run: string; readonly places: readonly (string | null)[] }[] {
    return (this.#desk?.conversations.allOpen ?? []).flatMap((live) => {
      const { runs, messages } = live.session.state;
      const own = [...runs.values()].filter(({ call }) => call === undefined);
      return own.map(({ id, leaf }) => ({ live, run: id, places: [leaf, messages.get(leaf ?? "")?.parentId ?? null] }));
    });
  }

  async #failed(error: unknown): Promise<Outcome> {
    const failed = () => {
      throw error;
    };
    return (await this.#desk?.performer.outcomeOf(failed)) ?? { error: STOPPING };
  }

  async #isElsewhere(conversation: string): Promise<boolean> {
    if (this.#isOpenHere(conversation)) return false;
    const owner = await this.#options.shared.ownerOf(conversation);
    return owner !== undefined && !owner.isHere;
  }

  #isOpenHere(conversation: string): boolean {
    return this.#desk?.conversations.ifOpen(conversation) !== undefined;
  }
}

/** Where a run is gone on with: at the first of these that is there. An answer without a word is given up, and then it is not. */
function placeIn(state: ConversationState, places: readonly (string | null)[]): { readonly at?: string } {
  const at = places.find((place) => place !== null && state.messages.has(place));
  return at ? { at: newestLeaf(state, at) } : {};
}

const STOPPING: Problem = { code: "stopping", message: "This node is stopping; connect again, to another one." };

function isLocked(outcome: Outcome): boolean {
  return "error" in outcome && outcome.error.code === "locked";
}

function isFailed(outcome: Outcome): boolean {
  return "error" in outcome && outcome.error.code === "failed";
}

function isStopping(outcome: Outcome): boolean {
  return "error" in outcome && outcome.error.code === "stopping";
}
