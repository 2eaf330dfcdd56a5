import type { Store } from "@banyan/core";
import type { Command, Problem } from "@banyan/protocol";
import { rights } from "@banyan/protocol/values";
import { type Owner, runsToGoOnWith, type Shared } from "@banyan/store/postgres";
import type { DeskCommand } from "../desk/commands/workplace.ts";
import type { Activity, Elsewhere, Watchable } from "../desk/elsewhere.ts";
import type { LiveChats } from "../desk/live/live-chats.ts";
import type { LiveConversation } from "../desk/live/live-conversation.ts";
import type { LiveConversations } from "../desk/live/live-conversations.ts";
import { failsAs, hasBegun, type Outcome, type Performer } from "../desk/perform.ts";
import { GUEST, OWNER, type Principal } from "../desk/principal.ts";
import { Activities } from "./activities.ts";
import { Bells } from "./bells.ts";
import { Draining, placeIn, runsAtWork, toGoOn } from "./draining.ts";
import { type Asked, type DrivenNode, type Driver, mayBeginTurn, type Place, type Step } from "./driver.ts";
import { Following } from "./following.ts";
import { MovingConversation, type WatchedAt } from "./moving-conversation.ts";
import { WrittenConversation } from "./written-conversation.ts";

/** What becomes of a run whose node died: another one goes on with it, or leaves it to a person. */
export type Redrive = "resume" | "leave";

/** Milliseconds between two looks at an outcome, the first and the longest, and for what waits here. */
const FIRST_LOOK = 20;
const LONGEST_LOOK = 1_000;
const WAITING = 1_000;
/** Milliseconds for which a command waits for a node that may take its conversation. */
const PATIENCE = 20_000;

/** What makes a server one of many. */
export interface ClusterOptions {
  readonly shared: Shared;
  /** Where conversations are kept. */
  readonly store: Pick<Store, "view">;
  readonly driver: Driver;
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
  readonly chats: LiveChats;
  /** What the list says of a conversation may have changed; without a conversation, of any of them. */
  changed(conversation?: string): void;
}

/**
 * This server among those that share its database. A command goes to whoever has its conversation: into the inbox, where the owner
 * finds it by the doorbell, carries it out, once, and leaves what became of it. That turns come to their end is the driver's.
 *
 * ```
 * command ──▶ open here, or nobody's ──▶ carried out here
 *         ──▶ another node's ──▶ inbox ──bell──▶ owner ──▶ outcome ──bell──▶ answer
 * driver: nobody has it, and something waits or ran ──▶ opened here ──▶ what waits, then what ran
 * ```
 */
export class Cluster implements Elsewhere, DrivenNode {
  readonly #options: ClusterOptions;
  #desk: ClusterDesk | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unlisten: (() => void) | undefined;
  readonly #bells = new Bells();
  /** What is being carried out of the inbox. */
  readonly #answering = new Map<string, Promise<void>>();
  /** Conversations that are read in the database, since who has them cannot be reached. */
  readonly #written = new Map<string, WrittenConversation>();
  readonly #looks = new Map<string, Promise<Owner | undefined>>();
  /** When it was told last of a node that it cannot be reached, in milliseconds of the process. */
  readonly #toldUnreachable = new Map<string, number>();
  /** What was left in a conversation when it was opened here is being gone on with, or was. */
  readonly #goneOn = new WeakMap<LiveConversation, Promise<void>>();
  readonly #following: Following;
  readonly #activities: Activities;
  readonly #draining = new Draining();

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#activities = new Activities({
      ...options,
      activityOf: (conversation) => this.#desk?.conversations.ifOpen(conversation)?.activity,
    });
    this.#following = new Following({
      ...options,
      ifOpen: (conversation) => this.#desk?.conversations.ifOpen(conversation),
      isBetweenTurns: (live) =>
        live.isBeginning || (this.#desk?.chats.of(live.session).some(({ isEnding }) => isEnding) ?? false),
      takeOver: (conversation) => this.takeOver(conversation),
      bell: (conversation, wait) => this.#bells.rung(conversation, wait),
    });
  }

  /** Begins to answer for others, and tells them where this node is. Rejects with `StoreError`. */
  async begin(desk: ClusterDesk, address: string): Promise<void> {
    this.#desk = desk;
    const { shared, driver, defect } = this.#options;
    await shared.begin(address);
    this.#unlisten = shared.listen((conversations) => this.#hear(conversations));
    const look = async () => {
      await this.#letGoOfOvertaken();
      await this.#answerWaiting();
    };
    this.#timer = setInterval(() => look().catch(defect), WAITING).unref();
    await driver.begin(this);
  }

  get isDraining(): boolean {
    return this.#draining.hasBegun;
  }

  /** Whether a balancer may send clients here. */
  async isReady(): Promise<boolean> {
    return this.#draining.isReady() && (await this.#options.shared.isReady());
  }

  async perform(command: Command<DeskCommand>, principal: Principal): Promise<Outcome> {
    const conversation = "conversation" in command ? command.conversation : undefined;
    // To look needs no owner: all that is written is in the database.
    if (conversation === undefined || rights[command.type] !== "act") return this.#performHere(command, principal.name);
    const asked = { id: `${principal.name} ${command.id}`, conversation, command, by: principal.name };
    try {
      const state = this.#desk?.conversations.ifOpen(conversation)?.session.state;
      const accepts = await mayBeginTurn(command, state, () => this.activities());
      return await this.#draining.serve(accepts ? this.#options.driver.accept(asked) : this.carryOut(asked));
    } catch (error) {
      return this.#failed(error);
    }
  }

  activities(): Promise<ReadonlyMap<string, Activity>> {
    return this.#options.shared.activities();
  }

  changed(conversation: string): void {
    this.#activities.changed(conversation);
  }

  async watchable(conversation: string, principal: Principal, here: () => Promise<Watchable>): Promise<Watchable> {
    const { store, tokens } = this.#options;
    const token = principal.rights.includes("act") ? tokens.owner : tokens.guest;
    return new MovingConversation(conversation, {
      find: () => this.#placeOf(conversation, token, here),
      written: () => this.#writtenOf(conversation),
      end: async () => (await store.view(conversation)).seq,
      listen: (hearing) => this.#bells.listen(conversation, hearing),
      unreachable: (node, error) => this.#tellUnreachable(node.address, error),
      flush: () => this.#desk?.conversations.ifOpen(conversation)?.flush(),
    });
  }

  /**
   * Takes nothing on any more, and waits until what runs here has ended, at most for so many milliseconds. What is then still at
   * work is handed over: `close` interrupts it, with its facts in the log, and another node goes on with it.
   */
  async drain(time: number, close: () => Promise<void>): Promise<void> {
    const atWork = () => runsAtWork(this.#desk?.conversations.allOpen ?? []);
    await this.#draining.begin(time, () => atWork().length > 0);
    const left = atWork();
    clearInterval(this.#timer);
    this.#unlisten?.();
    await Promise.allSettled(this.#answering.values());
    await close();
    const { driver, defect } = this.#options;
    const atRest = ({ live, run }: (typeof left)[number]) => live.session.state.waiting.has(run);
    const handedOver = left.filter((run) => !atRest(run)).map(async (run) => driver.leave(toGoOn(run)));
    // What cannot be handed over now can be resumed by a person.
    for (const handing of await Promise.allSettled(handedOver))
      if (handing.status === "rejected") defect(handing.reason);
    await driver.end();
  }

  last(conversation: string): Promise<number> {
    return this.#following.last(conversation);
  }

  async next(place: Place, signal: AbortSignal): Promise<Step> {
    if (this.isDraining && !this.#isOpenHere(place.conversation)) throw new Error(STOPPING.message);
    return this.#following.next(place, signal);
  }

  leave({ id, conversation, command, by }: Asked): Promise<void> {
    return this.#options.shared.ask(id, conversation, JSON.stringify({ command, by }));
  }

  async carryOut(asked: Asked, isLeft = false): Promise<Outcome> {
    const { id, conversation, command, by } = asked;
    const { shared, driver } = this.#options;
    const here = () => this.#performHere(command, by);
    const until = performance.now() + PATIENCE;
    for (let isAsked = isLeft; ; ) {
      const owner = this.#isOpenHere(conversation) ? undefined : await shared.ownerOf(conversation);
      // One that is new nobody else could know of.
      const opens = !this.isDraining || this.#isOpenHere(conversation) || command.type === "conversation.create";
      const isElsewhere = owner !== undefined && !owner.isHere;
      if (!isElsewhere && !opens && !(driver.takesWaiting && performance.now() < until)) return { error: STOPPING };
      if (!isElsewhere && opens) {
        const outcome = await this.#openedBy(conversation, here);
        if (!(await this.#isTaken(outcome, conversation)) || performance.now() > until) {
          if (isAsked) await shared.answer(id, conversation, JSON.stringify({ ...outcome, cause: undefined }));
          return outcome;
        }
      }
      // A program that is no server carries out nothing for others: the refusal says which it is.
      if (isElsewhere && owner.address === undefined) return here();
      if (!isAsked) await this.leave(asked);
      isAsked = true;
      const outcome = await this.#outcomeOf(id, conversation);
      if (outcome) return outcome;
    }
  }

  async carryOutLeft({ id, conversation }: Pick<Asked, "id" | "conversation">): Promise<boolean> {
    const { shared } = this.#options;
    const until = performance.now() + PATIENCE;
    for (;;) {
      const bell = this.#bells.rung(conversation, LONGEST_LOOK);
      const outcome = await shared.outcomeOf(id);
      if (outcome !== undefined) return hasBegun(JSON.parse(outcome));
      const left = (await shared.waiting([conversation])).find((waiting) => waiting.id === id);
      if (left) {
        const { command, by } = JSON.parse(left.body) as Pick<Asked, "command" | "by">;
        return hasBegun(await this.carryOut({ id, conversation, command, by }, true));
      }
      // The driver knows of it first: whoever asked is about to write it down, or died before, and told nobody that it is done.
      if (performance.now() > until) return false;
      await bell;
    }
  }

  /** What the owner made of it; nothing when there is no owner any more, or none yet. */
  async #outcomeOf(id: string, conversation: string): Promise<Outcome | undefined> {
    const { shared } = this.#options;
    let hasOwner = true;
    for (let wait = FIRST_LOOK; ; wait = Math.min(2 * wait, LONGEST_LOOK)) {
      // Who listens before the look misses no bell.
      const bell = this.#bells.rung(conversation, wait);
      const outcome = await shared.outcomeOf(id);
      if (outcome !== undefined) return JSON.parse(outcome) as Outcome;
      if (!hasOwner) return undefined;
      await bell;
      hasOwner = (await shared.ownerOf(conversation)) !== undefined;
    }
  }

  /** Where a conversation is to be watched: opened here where nobody has it. */
  async #placeOf(conversation: string, token: string | undefined, here: () => Promise<Watchable>): Promise<WatchedAt> {
    for (;;) {
      const owner = this.#isOpenHere(conversation) ? undefined : await this.#lookFor(conversation);
      // A program that is no server can be asked nothing.
      if (owner && !owner.isHere && (owner.address === undefined || token === undefined)) return {};
      if (owner?.address !== undefined && !owner.isHere && token !== undefined)
        return { node: { address: owner.address, token, client: "banyan node" } };
      try {
        return { here: await this.#openedBy(conversation, here) };
      } catch (error) {
        // Of several that take over what a dead node had, another one was faster between the two looks.
        if (!(await this.#isElsewhere(conversation))) throw error;
      }
    }
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
      bell: () => this.#bells.rung(conversation, LONGEST_LOOK),
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
      `The server at ${address} cannot be reached (${why}); check its --address, and that both servers use the same token. Meanwhile its open conversations are read from the database.`,
    );
  }

  #hear(conversations: readonly string[] | undefined): void {
    const { defect } = this.#options;
    this.#bells.ring(conversations);
    for (const conversation of conversations ?? [undefined]) this.#desk?.changed(conversation);
    this.#answerWaiting().catch(defect);
  }

  /** Carries out what others ask of the conversations that are open here. */
  async #answerWaiting(only?: string): Promise<void> {
    const open = this.#desk?.conversations.allOpen.map(({ session }) => session.id) ?? [];
    const waiting = await this.#options.shared.waiting(only === undefined ? open : [only]);
    await Promise.all(waiting.map((one) => this.#answer(one)));
  }

  #answer({ id, conversation, body }: Awaited<ReturnType<Shared["waiting"]>>[number]): Promise<void> {
    const answer = async () => {
      const { command, by } = JSON.parse(body) as { command: Command<DeskCommand>; by: Principal["name"] };
      const outcome = await this.#performHere(command, by);
      // It waits for whoever has the conversation now.
      if (failsAs(outcome, "stopping") || (await this.#isTaken(outcome, conversation))) return;
      await this.#options.shared.answer(id, conversation, JSON.stringify(outcome));
    };
    const known = this.#answering.get(id);
    if (known) return known;
    const answering = answer().finally(() => this.#answering.delete(id));
    this.#answering.set(id, answering);
    return answering;
  }

  async takeOver(conversation: string): Promise<void> {
    const desk = this.#desk;
    if (!desk) return;
    let live = desk.conversations.ifOpen(conversation);
    if (!live) {
      live = await desk.conversations.open(conversation);
      await this.#answerWaiting(conversation);
    }
    await this.#goOn(live);
  }

  /** Goes on with the runs of a conversation that a node left in the middle when it died, once for each opening here. */
  #goOn(live: LiveConversation): Promise<void> {
    const going = this.#goneOn.get(live) ?? this.#goOnOnce(live);
    this.#goneOn.set(live, going);
    // What could not be known now is asked again.
    return going.catch((error: unknown) => {
      this.#goneOn.delete(live);
      throw error;
    });
  }

  async #goOnOnce({ session }: LiveConversation): Promise<void> {
    const { shared, redrive, defect } = this.#options;
    if (redrive === "leave") return;
    const runs = await runsToGoOnWith(session, shared);
    for (const { id, leaf } of runs) {
      const command = { type: "turn.resume" as const, id: `${id}-${session.cursor.epoch}`, conversation: session.id };
      const at = placeIn(session.state, [leaf]);
      const outcome = await this.#performHere({ ...command, ...at }, "owner");
      // What had come to its end by itself needs nobody to go on with it.
      if ("error" in outcome && outcome.error.code !== "invalid")
        defect(new Error(`${session.id} cannot be gone on with: ${outcome.error.message}`));
    }
  }

  /** Opens a conversation here by `here`, and goes on with what was left in it. */
  async #openedBy<Result>(conversation: string, here: () => Promise<Result>): Promise<Result> {
    const result = await here();
    const live = this.#desk?.conversations.ifOpen(conversation);
    if (live) this.#goOn(live).catch(this.#options.defect);
    return result;
  }

  /** Those that others took while this node slept: what works in them is ended now, and not when it has something to write. */
  async #letGoOfOvertaken(): Promise<void> {
    const atWork = (this.#desk?.conversations.allOpen ?? []).filter(({ session }) => session.state.runs.size > 0);
    const overtaken = await this.#options.shared.overtaken(atWork.map(({ session }) => session.id));
    await Promise.allSettled(overtaken.map((conversation) => this.#desk?.conversations.letGo(conversation)));
  }

  async #performHere(command: Command<DeskCommand>, by: Principal["name"]): Promise<Outcome> {
    const outcome = await this.#desk?.performer.performHere(command, by === "owner" ? OWNER : GUEST);
    return outcome ?? { error: STOPPING };
  }

  async #failed(error: unknown): Promise<Outcome> {
    const failed = () => {
      throw error;
    };
    return (await this.#desk?.performer.outcomeOf(failed)) ?? { error: STOPPING };
  }

  /** Whether it failed since its conversation is another's: taken between two looks, or while this node slept, or of another machine. */
  async #isTaken(outcome: Outcome, conversation: string): Promise<boolean> {
    return failsAs(outcome, "locked") || (failsAs(outcome, "failed") && (await this.#isElsewhere(conversation)));
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

const STOPPING: Problem = { code: "stopping", message: "This node is stopping. Connect to another node." };
