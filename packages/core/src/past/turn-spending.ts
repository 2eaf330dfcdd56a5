import type { Event } from "../conversation/event.ts";
import type { ConversationState } from "../conversation/state.ts";
import {
  addCost,
  addUsage,
  type Cost,
  type EarlierUsage,
  noUsage,
  totalTokens,
  type Usage,
} from "../conversation/usage.ts";
import { CacheMisses } from "./cache-misses.ts";
import { SmallMap } from "./small-map.ts";

interface CountedRun {
  parent: CountedRun | undefined;
  steps: number;
  usage: Usage;
  cost: Cost;
  grants: number;
  isRefused: boolean;
  /** For a whole turn: grants of this run and all runs below. */
  allGrants: number;
  /** Maximum tokens and US dollars of a single response of the turn. */
  dearestTokens: number;
  dearestCost: number;
  /** Milliseconds of work before `since`. */
  time: number;
  since: number;
  /** Number of open questions of the turn, and the time at which they stopped the clock. */
  asked: number;
  stoppedAt: number;
  /** Runs that this run continues: their ids lead to this entry too. */
  earlier: readonly string[];
}

/** Tokens and cost of unfinished turns, read from the log. A process that continues such a turn adds to them. */
export class TurnSpending {
  readonly cacheMisses: CacheMisses;
  readonly #state: ConversationState;
  readonly #runs = new SmallMap<CountedRun>();
  readonly #writing = new SmallMap<CountedRun>();
  /** Open questions. Each has the turn whose clock is stopped, and the asking call. */
  readonly #asked = new Map<string, { readonly turn: CountedRun; readonly call: string | undefined }>();

  /** `state` must include an event before `hear` gets the event. */
  constructor(state: ConversationState) {
    this.#state = state;
    this.cacheMisses = new CacheMisses(state);
  }

  before(run: string): EarlierUsage | undefined {
    const counted = this.#state.waiting.has(run) ? this.#runs.get(run) : undefined;
    if (!counted) return undefined;
    const { steps, usage, cost, grants, isRefused } = counted;
    const { time, dearestTokens, dearestCost, allGrants } = countedTurn(counted);
    const money = cost === undefined ? {} : { cost };
    return {
      steps,
      usage,
      ...money,
      time,
      grants: { own: grants, all: allGrants },
      isRefused,
      dearest: { tokens: dearestTokens, cost: dearestCost },
    };
  }

  hear(event: Event): void {
    switch (event.type) {
      case "message.started": {
        const counted = this.#runs.get(event.run);
        if (counted) this.#writing.set(event.message, counted);
        return;
      }
      case "message.completed":
      case "message.abandoned": {
        if (event.type === "message.completed") this.cacheMisses.complete(event.message, event.usage);
        const counted = this.#writing.get(event.message);
        if (!counted) return;
        this.#writing.delete(event.message);
        if (event.type === "message.completed") counted.steps++;
        return addToRuns(counted, event.usage ?? noUsage, event.usage ? event.cost : 0);
      }
      case "message.added": {
        const counted = event.usage && event.run !== undefined ? this.#runs.get(event.run) : undefined;
        if (counted && event.usage) addToRuns(counted, event.usage, event.cost);
        return;
      }
      case "call.approval-requested":
      case "question.asked":
        return this.#ask(event.question, this.#runOf(event.message), event.at, event.call);
      case "run.paused":
        return this.#ask(event.question, this.#runs.get(event.run), event.at);
      case "call.approval-resolved":
      case "question.answered":
        return this.#answer(event.question, event.at);
      case "run.continued": {
        const counted = event.offers === undefined ? this.#runs.get(event.run) : undefined;
        if (counted && event.allowed) {
          counted.grants++;
          countedTurn(counted).allGrants++;
        } else if (counted) counted.isRefused = true;
        return this.#answer(event.question, event.at);
      }
      case "call.completed":
      case "call.failed":
      case "call.denied":
      case "call.cancelled":
        if (this.#asked.size === 0) return;
        for (const [question, { call }] of this.#asked) if (call === event.call) this.#answer(question, event.at);
        return;
      case "run.started":
        return this.#begin(event);
      case "run.ended":
        return this.#end(event);
    }
  }

  #runOf(message: string): CountedRun | undefined {
    const asking = this.#state.messages.get(message);
    return asking?.role === "assistant" ? this.#runs.get(asking.run) : undefined;
  }

  #begin(started: Extract<Event, { type: "run.started" }>): void {
    this.cacheMisses.begin(started);
    const { run, call, continues, before, at } = started;
    // The new run takes over the messages and questions of the run before.
    const waiting = continues === undefined ? undefined : this.#runs.get(continues);
    const counted = waiting ?? countedFrom(before);
    if (waiting && continues !== undefined) counted.earlier = [...counted.earlier, continues];
    counted.parent = call === undefined ? undefined : this.#runOf(this.#state.calls.get(call) ?? "");
    counted.since = at;
    counted.stoppedAt = at;
    this.#runs.set(run, counted);
  }

  #end({ run, reason, at }: Extract<Event, { type: "run.ended" }>): void {
    const counted = this.#runs.get(run);
    if (!counted) return;
    if (reason === "waiting") {
      counted.time += Math.max(0, (counted.asked > 0 ? counted.stoppedAt : at) - counted.since);
      counted.since = at;
      counted.stoppedAt = at;
      return;
    }
    this.#runs.delete(run);
    for (const earlier of counted.earlier) this.#runs.delete(earlier);
    if (counted.asked > 0)
      for (const [question, { turn }] of this.#asked) if (turn === counted) this.#asked.delete(question);
  }

  #ask(question: string, counted: CountedRun | undefined, at: number, call?: string): void {
    if (!counted) return;
    const turn = countedTurn(counted);
    if (turn.asked === 0) turn.stoppedAt = at;
    if (!this.#asked.has(question)) turn.asked++;
    this.#asked.set(question, { turn, call });
  }

  #answer(question: string, at: number): void {
    const turn = this.#asked.get(question)?.turn;
    if (!turn) return;
    this.#asked.delete(question);
    turn.asked--;
    if (turn.asked > 0) return;
    turn.time += Math.max(0, turn.stoppedAt - turn.since);
    turn.since = at;
  }
}

const NONE: readonly string[] = [];

function countedFrom(before: EarlierUsage | undefined): CountedRun {
  return {
    parent: undefined,
    steps: before?.steps ?? 0,
    usage: before?.usage ?? noUsage,
    cost: before ? before.cost : 0,
    grants: before?.grants.own ?? 1,
    isRefused: before?.isRefused ?? false,
    allGrants: before?.grants.all ?? 1,
    dearestTokens: before?.dearest.tokens ?? 0,
    dearestCost: before?.dearest.cost ?? 0,
    time: before?.time ?? 0,
    since: 0,
    stoppedAt: 0,
    asked: 0,
    earlier: NONE,
  };
}

function countedTurn(counted: CountedRun): CountedRun {
  let turn = counted;
  while (turn.parent) turn = turn.parent;
  return turn;
}

function addToRuns(counted: CountedRun, usage: Usage, cost: Cost): void {
  for (let at: CountedRun | undefined = counted; at; at = at.parent) {
    at.usage = addUsage(at.usage, usage);
    at.cost = addCost(at.cost, cost);
  }
  const turn = countedTurn(counted);
  turn.dearestTokens = Math.max(turn.dearestTokens, totalTokens(usage));
  turn.dearestCost = Math.max(turn.dearestCost, cost ?? 0);
}
