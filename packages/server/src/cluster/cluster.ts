import { errorMessage } from "@banyan/core/shown";
import { GUEST, OWNER, type Principal } from "@banyan/desk";
import {
  type CommandOutcome,
  type ConversationActivity,
  type DeskCommand,
  failsAs,
  hasBegun,
  type LiveConversation,
  type OtherNodes,
  type Watchable,
} from "@banyan/desk/serving";
import type { Command, Problem } from "@banyan/protocol";
import { rightFor } from "@banyan/protocol/values";
import { type ConversationOwner, runsToGoOnWith, type SharedDatabase } from "@banyan/store/postgres";
import { ActivityPublisher } from "./activities.ts";
import { Bells } from "./bells.ts";
import type { ClusterDesk, ClusterOptions } from "./cluster-options.ts";
import { type DrivenNode, type DriverPosition, type LogStep, mayBeginTurn, type NodeCommand } from "./driver.ts";
import { type FeedSource, MovingConversation } from "./moving-conversation.ts";
import { continueCommand, NodeDrain, resumeOf, runsAtWork } from "./node-drain.ts";
import { TurnFollower } from "./turn-follower.ts";
import { WrittenConversation } from "./written-conversation.ts";

/** Milliseconds between two queries of an outcome (first, longest), and of the commands that wait here. */
const FIRST_LOOK = 20;
const LONGEST_LOOK = 1_000;
const WAITING = 1_000;
/** Milliseconds that a command waits for a node that may open its conversation. */
const PATIENCE = 20_000;

/**
 * This server as one node of a cluster that shares a database. A command for a conversation of another node is stored
 * in the inbox of that node. The owner is notified, carries the command out once, and stores the outcome. The driver
 * makes sure that turns come to an end.
 * ```
 * command ──▶ the conversation is open here, or has no owner ──▶ carried out here
 *         ──▶ another node owns it ──▶ inbox ──bell──▶ owner ──▶ outcome ──bell──▶ answer
 * driver: no owner, but stored commands or unfinished runs ──▶ opened here ──▶ commands, then runs
 * ```
 */
export class Cluster implements OtherNodes, DrivenNode {
  readonly #options: ClusterOptions;
  #desk: ClusterDesk | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unlisten: (() => void) | undefined;
  readonly #bells = new Bells();
  readonly #answering = new Map<string, Promise<void>>();
  readonly #written = new Map<string, WrittenConversation>();
  readonly #looks = new Map<string, Promise<ConversationOwner | undefined>>();
  readonly #toldUnreachable = new Map<string, number>();
  readonly #goneOn = new WeakMap<LiveConversation, Promise<void>>();
  readonly #following: TurnFollower;
  readonly #activities: ActivityPublisher;
  readonly #draining = new NodeDrain();

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#activities = new ActivityPublisher({
      ...options,
      activityOf: (conversation) => this.#desk?.conversations.ifOpen(conversation)?.activity,
    });
    this.#following = new TurnFollower({
      ...options,
      ifOpen: (conversation) => this.#desk?.conversations.ifOpen(conversation),
      isBetweenTurns: (live) =>
        live.isBeginning || (this.#desk?.chats.of(live.session).some(({ isEnding }) => isEnding) ?? false),
      takeOver: (conversation) => this.takeOver(conversation),
      bell: (conversation, wait) => this.#bells.rung(conversation, wait),
    });
  }

  /** Starts to serve other nodes, and publishes this node's address. Rejects with `StoreError`. */
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

  async isReady(): Promise<boolean> {
    return this.#draining.isReady() && (await this.#options.shared.isReady());
  }

  async perform(command: Command<DeskCommand>, principal: Principal): Promise<CommandOutcome> {
    const conversation = "conversation" in command ? command.conversation : undefined;
    if (conversation === undefined || rightFor(command.type) !== "act")
      return this.#performHere(command, principal.name);
    const nodeCommand = { id: `${principal.name} ${command.id}`, conversation, command, by: principal.name };
    try {
      const state = this.#desk?.conversations.ifOpen(conversation)?.session.state;
      const accepts = await mayBeginTurn(command, state, () => this.activities());
      return await this.#draining.serve(
        accepts ? this.#options.driver.accept(nodeCommand) : this.carryOut(nodeCommand),
      );
    } catch (error) {
      return this.#failed(error);
    }
  }

  activities(): Promise<ReadonlyMap<string, ConversationActivity>> {
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
   * Accepts no new work, and waits up to `time` milliseconds for the runs. `close` then interrupts the remaining runs
   * and writes their ends to the log; another node continues them.
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
    const handedOver = left.filter((run) => !atRest(run)).map(async (run) => driver.leave(continueCommand(run)));
    for (const handing of await Promise.allSettled(handedOver))
      if (handing.status === "rejected") defect(handing.reason);
    await driver.end();
  }

  last(conversation: string): Promise<number> {
    return this.#following.last(conversation);
  }

  async next(position: DriverPosition, signal: AbortSignal): Promise<LogStep> {
    if (this.isDraining && !this.#isOpenHere(position.conversation)) throw new Error(STOPPING.message);
    return this.#following.next(position, signal);
  }

  leave({ id, conversation, command, by }: NodeCommand): Promise<void> {
    return this.#options.shared.ask(id, conversation, JSON.stringify({ command, by }));
  }

  async carryOut(nodeCommand: NodeCommand, isLeft = false): Promise<CommandOutcome> {
    const { id, conversation, command, by } = nodeCommand;
    const { shared, driver } = this.#options;
    const here = () => this.#performHere(command, by);
    const until = performance.now() + PATIENCE;
    for (let isAsked = isLeft; ; ) {
      const owner = this.#isOpenHere(conversation) ? undefined : await shared.ownerOf(conversation);
      // No other node can know a new conversation.
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
      // A program that is no server carries out no commands of others: the refusal of `here` names it.
      if (isElsewhere && owner.address === undefined) return here();
      if (!isAsked) await this.leave(nodeCommand);
      isAsked = true;
      const outcome = await this.#outcomeOf(id, conversation);
      if (outcome) return outcome;
    }
  }

  async carryOutLeft({ id, conversation }: Pick<NodeCommand, "id" | "conversation">): Promise<boolean> {
    const { shared } = this.#options;
    const until = performance.now() + PATIENCE;
    for (;;) {
      const bell = this.#bells.rung(conversation, LONGEST_LOOK);
      const outcome = await shared.outcomeOf(id);
      if (outcome !== undefined) return hasBegun(JSON.parse(outcome));
      const left = (await shared.waiting([conversation])).find((waiting) => waiting.id === id);
      if (left) {
        const { command, by } = JSON.parse(left.body) as Pick<NodeCommand, "command" | "by">;
        return hasBegun(await this.carryOut({ id, conversation, command, by }, true));
      }
      // The driver may know the command before its sender has stored it, or the sender died without reporting success.
      if (performance.now() > until) return false;
      await bell;
    }
  }

  async #outcomeOf(id: string, conversation: string): Promise<CommandOutcome | undefined> {
    const { shared } = this.#options;
    let hasOwner = true;
    for (let wait = FIRST_LOOK; ; wait = Math.min(2 * wait, LONGEST_LOOK)) {
      // Listen before the query, so that no notification is missed.
      const bell = this.#bells.rung(conversation, wait);
      const outcome = await shared.outcomeOf(id);
      if (outcome !== undefined) return JSON.parse(outcome) as CommandOutcome;
      if (!hasOwner) return undefined;
      await bell;
      hasOwner = (await shared.ownerOf(conversation)) !== undefined;
    }
  }

  /** Returns where to watch a conversation; opens it here if no node has it. */
  async #placeOf(conversation: string, token: string | undefined, here: () => Promise<Watchable>): Promise<FeedSource> {
    for (;;) {
      const owner = this.#isOpenHere(conversation) ? undefined : await this.#lookFor(conversation);
      // A program that is no server cannot be queried.
      if (owner && !owner.isHere && (owner.address === undefined || token === undefined)) return {};
      if (owner?.address !== undefined && !owner.isHere && token !== undefined)
        return { node: { address: owner.address, token, client: "banyan node" } };
      try {
        return { here: await this.#openedBy(conversation, here) };
      } catch (error) {
        // Another node took over the dead node's conversation between the two queries.
        if (!(await this.#isElsewhere(conversation))) throw error;
      }
    }
  }

  /** Returns the owner of a conversation. Clients that lose a conversation at the same moment share one query. */
  #lookFor(conversation: string): Promise<ConversationOwner | undefined> {
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

  /** Reports a node at most once a minute: the operator can fix it, and clients read from the database meanwhile. */
  #tellUnreachable(address: string, error: unknown): void {
    const now = performance.now();
    if (now - (this.#toldUnreachable.get(address) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    this.#toldUnreachable.set(address, now);
    const why = errorMessage(error);
    this.#options.log(
      `The server at ${address} cannot be reached (${why}). Check that server's --address, and that both servers use the same token. Until then, this server reads the other server's open conversations from the database.`,
    );
  }

  #hear(conversations: readonly string[] | undefined): void {
    const { defect } = this.#options;
    this.#bells.ring(conversations);
    for (const conversation of conversations ?? [undefined]) this.#desk?.changed(conversation);
    this.#answerWaiting().catch(defect);
  }

  /** Carries out the inbox commands of conversations that are open here. */
  async #answerWaiting(only?: string): Promise<void> {
    const open = this.#desk?.conversations.allOpen.map(({ session }) => session.id) ?? [];
    const waiting = await this.#options.shared.waiting(only === undefined ? open : [only]);
    await Promise.all(waiting.map((one) => this.#answer(one)));
  }

  #answer({ id, conversation, body }: Awaited<ReturnType<SharedDatabase["waiting"]>>[number]): Promise<void> {
    const answer = async () => {
      const { command, by } = JSON.parse(body) as { command: Command<DeskCommand>; by: Principal["name"] };
      const outcome = await this.#performHere(command, by);
      // The command waits for the conversation's new owner.
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

  /** Continues the runs that a dead node left unfinished, once for each time that this node opens the conversation. */
  #goOn(live: LiveConversation): Promise<void> {
    const going = this.#goneOn.get(live) ?? this.#goOnOnce(live);
    this.#goneOn.set(live, going);
    return going.catch((error: unknown) => {
      this.#goneOn.delete(live);
      throw error;
    });
  }

  async #goOnOnce({ session }: LiveConversation): Promise<void> {
    const { shared, redrive, defect } = this.#options;
    if (redrive === "leave") return;
    for (const run of await runsToGoOnWith(session, shared)) {
      const outcome = await this.#performHere(resumeOf(session, run), "owner");
      // A run that ended by itself needs no continuation.
      if ("error" in outcome && outcome.error.code !== "invalid")
        defect(new Error(`Conversation ${session.id} cannot continue: ${outcome.error.message}`));
    }
  }

  async #openedBy<Result>(conversation: string, here: () => Promise<Result>): Promise<Result> {
    const result = await here();
    const live = this.#desk?.conversations.ifOpen(conversation);
    if (live) this.#goOn(live).catch(this.#options.defect);
    return result;
  }

  /** Closes conversations that other nodes took while this node slept, before their runs write again. */
  async #letGoOfOvertaken(): Promise<void> {
    const atWork = (this.#desk?.conversations.allOpen ?? []).filter(({ session }) => session.state.runs.size > 0);
    const overtaken = await this.#options.shared.overtaken(atWork.map(({ session }) => session.id));
    await Promise.allSettled(overtaken.map((conversation) => this.#desk?.conversations.letGo(conversation)));
  }

  async #performHere(command: Command<DeskCommand>, by: Principal["name"]): Promise<CommandOutcome> {
    const outcome = await this.#desk?.performer.performHere(command, by === "owner" ? OWNER : GUEST);
    return outcome ?? { error: STOPPING };
  }

  async #failed(error: unknown): Promise<CommandOutcome> {
    return (await this.#desk?.performer.outcomeOf(() => Promise.reject(error))) ?? { error: STOPPING };
  }

  /** Returns whether a command failed because another node took its conversation: between two queries, or during a sleep. */
  async #isTaken(outcome: CommandOutcome, conversation: string): Promise<boolean> {
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
