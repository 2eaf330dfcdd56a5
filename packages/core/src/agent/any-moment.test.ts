import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Event, isEvent } from "../conversation/event.ts";
import { isSettled } from "../conversation/message.ts";
import { pathTo } from "../conversation/path.ts";
import { defineTool } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { type Beat, call, cut, fail, type Scene, scriptedModel, text } from "../testing/scripted-model.ts";
import { Agent } from "./agent.ts";
import { type Directive, resume, retry, say } from "./directive.ts";
import { storeOf } from "./several-clients/store.fixture.ts";

const LONG = process.env.BANYAN_LONG === "1";

/** What a model may do in one answer. */
const SCENES = {
  answer: ["Done."],
  look: [text("Looking."), call("look"), call("look")],
  twice: [text("Putting."), call("put"), call("send"), call("put")],
  ask: [call("ask"), call("look")],
  listen: [call("listen")],
  heard: [text("A block."), call("send"), call("put"), call("send"), call("look")],
  launch: [call("launch", { task: "Look around" }), call("launch", { task: "Look again" })],
  shorten: [call("shorten_conversation", { summary: "Short." }), call("send")],
  busy: [fail("overloaded")],
  quota: [fail("quota")],
  breaks: [text("Half "), call("send"), cut()],
} as const satisfies Record<string, readonly (Beat | string)[]>;

/** What a client may do, each with a number that chooses what it is about. */
const COMMANDS = [
  "say",
  "say at the end",
  "say there",
  "send and wait",
  "retry",
  "retry there",
  "say anew there",
  "resume",
  "resume at a run",
  "resume there",
  "say at its calls",
  "resume at its calls",
  "compact",
  "compact there",
  "steer",
  "steer a run",
  "queue",
  "interject",
  "rewrite",
  "withdraw",
  "interrupt",
  "interrupt all",
  "remove",
  "restore",
  "allow",
  "deny",
  "change arguments",
] as const;

interface Command {
  readonly name: (typeof COMMANDS)[number];
  /** How many items of the feed are seen before. */
  readonly at: number;
  readonly what: number;
}

const commands = fc.array(fc.record({ name: fc.constantFrom(...COMMANDS), at: fc.nat(120), what: fc.nat(1000) }), {
  minLength: 1,
  maxLength: 16,
  size: "max",
});
const scenes = fc.array(fc.constantFrom(...(Object.keys(SCENES) as (keyof typeof SCENES)[])), {
  minLength: 2,
  maxLength: 12,
  size: "max",
});

/** Refusals that a client must expect: the place or the question is not there any more, or there is nothing to do. */
const REFUSALS = ["SessionError", "DirectiveError", "Interruption", "TurnError"];

/** A conversation in which clients do things at any moment, and what must be true of it whatever they do. */
class Moments {
  readonly log: Event[] = [];
  readonly problems: string[] = [];
  readonly #session: Session;
  readonly #agent: Agent;
  readonly #starts = new Map<string, number>();
  readonly #accepted = new Set<string>();
  readonly #withdrawn = new Set<string>();
  readonly #pending = new Set<Promise<unknown>>();
  /** Items of the feed. */
  seen = 0;
  #texts = 0;

  constructor(session: Session, names: readonly (keyof typeof SCENES)[], plan: readonly Command[]) {
    this.#session = session;
    this.#agent = this.#agentOf(names);
    const open = [...plan];
    session.listen({
      items: (items) => {
        for (const item of items) {
          if (isEvent(item)) this.log.push(item);
          this.seen++;
        }
        const due = open.filter(({ at }) => at <= this.seen);
        for (const command of due) {
          open.splice(open.indexOf(command), 1);
          queueMicrotask(() => this.#do(command));
        }
      },
      ended: () => {},
    });
  }

  /** Plays it to its end: questions are answered, and what waits is sent, until nothing is left. */
  async play(): Promise<void> {
    const { state } = this.#session;
    this.#chat(say("Begin"));
    for (let round = 0; round < 400; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (round % 4 !== 3) continue;
      // A model that is asked again is waited for.
      await sleep(1);
      const [question] = state.questions.keys();
      if (question !== undefined) this.#wait(this.#session.answer(question, { decision: "allow" }));
      else if (state.runs.size === 0 && this.#pending.size === 0) {
        const [waiting] = state.inbox;
        if (waiting === undefined) return;
        const at = waiting.at !== null && state.messages.has(waiting.at) ? { at: waiting.at } : {};
        this.#chat(resume(), at);
      }
    }
    this.problems.push(
      `It does not come to its end: ${[...state.runs.keys()]} runs, ${state.inbox.length} texts wait.`,
    );
  }

  check(): string[] {
    const { state } = this.#session;
    const delivered = (id: string) => (state.messages.has(id) ? 1 : 0);
    return [
      ...this.problems,
      ...checkConversation(state, this.log),
      ...[...state.messages.values()].flatMap((message) =>
        isSettled(message) ? [] : [`Message ${message.id} has calls without a result.`],
      ),
      ...[...this.#starts].filter(([, starts]) => starts > 1).map(([key, starts]) => `${key} ran ${starts} times.`),
      ...[...this.#accepted]
        .filter((id) => delivered(id) + (this.#withdrawn.has(id) ? 1 : 0) !== 1)
        .map((id) => `Text ${id} was accepted, and is neither a message nor withdrawn, or both.`),
    ];
  }

  #do({ name, what }: Command): void {
    const session = this.#session;
    const { state } = session;
    const pick = <T>(items: Iterable<T>): T | undefined => {
      const all = [...items];
      return all[what % all.length];
    };
    const run = pick(state.runs.values());
    const there = { at: pick(state.messages.keys()) };
    const atWork = run && pathTo(state, run.leaf).findLast((message) => !isSettled(message))?.id;
    const question = pick(state.questions.values());
    const waiting = pick(state.inbox);
    switch (name) {
      case "say":
        return this.#chat(say(this.#text()));
      case "say at the end":
        return this.#chat(say(this.#text()), { at: state.leaf ?? undefined });
      case "say there":
        return this.#chat(say(this.#text()), there);
      case "send and wait":
        return this.#wait(this.#agent.send(this.#text(), { session }));
      case "retry":
        return this.#chat(retry());
      case "retry there":
        return this.#chat(retry(), there);
      case "say anew there":
        return this.#chat(retry(this.#text()), there);
      case "resume":
        return this.#chat(resume());
      case "resume at a run":
        return this.#chat(resume(), { at: run?.leaf ?? undefined });
      case "resume there": {
        const place = run && pick(pathTo(state, run.leaf).slice(-4));
        return this.#chat(resume(), { at: place?.id });
      }
      case "say at its calls":
        return this.#chat(say(this.#text()), { at: atWork });
      case "resume at its calls":
        return this.#chat(resume(), { at: atWork });
      case "compact":
        return this.#wait(this.#agent.compact({ session }));
      case "compact there":
        return this.#wait(this.#agent.compact({ session, ...there }));
      case "steer":
      case "queue":
        return this.#input(name);
      case "steer a run":
        return this.#input("steer", run?.id);
      case "interject":
        return this.#input("interrupt", run?.id);
      case "rewrite":
        return waiting && this.#wait(session.editInput(waiting.id, { parts: [{ type: "text", text: this.#text() }] }));
      case "withdraw":
        return (
          waiting && this.#wait(session.withdrawInput(waiting.id).then(() => void this.#withdrawn.add(waiting.id)))
        );
      case "interrupt":
        return void (run && session.interrupt(run.id));
      case "interrupt all":
        return void session.interrupt();
      case "remove":
        return there.at === undefined ? undefined : this.#wait(session.remove(there.at));
      case "restore":
        return there.at === undefined ? undefined : this.#wait(session.restore(there.at));
      case "allow":
        return question && this.#wait(session.answer(question.id, { decision: "allow" }));
      case "deny":
        return question && this.#wait(session.answer(question.id, { decision: "deny" }));
      case "change arguments":
        return question && this.#wait(session.answer(question.id, { decision: "allow", input: { changed: what } }));
    }
  }

  #input(delivery: "steer" | "queue" | "interrupt", run?: string): void {
    const id = `text-${this.#texts}`;
    const said = this.#session.say(this.#text(), { id, delivery, run });
    this.#wait(said.then(() => void this.#accepted.add(id)));
  }

  #chat(directive: Directive, options: { readonly at?: string | undefined } = {}): void {
    this.#wait(Array.fromAsync(this.#agent.chat(directive, { session: this.#session, ...options })));
  }

  #wait(work: Promise<unknown>): void {
    const watched = work
      .catch((error: unknown) => {
        if (error instanceof Error && REFUSALS.includes(error.name)) return;
        this.problems.push(`Somebody was told: ${error}`);
      })
      .finally(() => this.#pending.delete(watched));
    this.#pending.add(watched);
  }

  #text(): string {
    return `Text ${this.#texts++}.`;
  }

  #agentOf(names: readonly (keyof typeof SCENES)[]): Agent {
    const tool = (name: string, effects: "none" | "idempotent" | "external") =>
      defineTool({
        name,
        description: name,
        input: { type: "object" },
        effects,
        execute: async (_, { key, attempt }) => {
          // A process starts a call once for each attempt, and one with external effects once.
          const start = effects === "external" ? key : `${key} #${attempt}`;
          this.#starts.set(start, (this.#starts.get(start) ?? 0) + 1);
          await new Promise((resolve) => setImmediate(resolve));
          return "done";
        },
      });
    const listen = defineTool({
      name: "listen",
      description: "Listens, as an edit does, and tells what came of it.",
      input: { type: "object" },
      effects: "none",
      execute: (_, { follow }) => {
        follow({ completed: async () => ({ say: "Applied." }), dropped: (reason) => `Not applied: ${reason}` });
        return "Listening.";
      },
    });
    const launch = defineTool({
      name: "launch",
      description: "Launches.",
      input: { type: "object" },
      effects: "external",
      parallel: true,
      execute: async (input, context) => (await context.launch({ task: (input as { task: string }).task })).text,
    });
    let next = 0;
    const model = scriptedModel(({ tools }): Scene => {
      const name = names[next++];
      const isSubAgent = tools.some((one) => one.name === "finish_task");
      if (isSubAgent && (name === undefined || name === "answer" || name === "launch")) {
        return [call("finish_task", { result: "Found.", summary: "Found it." })];
      }
      return name === undefined || tools.length === 0 ? "Done." : [...SCENES[name]].map(asBeat);
    });
    return new Agent({
      model,
      tools: [
        tool("look", "none"),
        tool("put", "idempotent"),
        tool("send", "external"),
        tool("ask", "external"),
        listen,
        launch,
      ],
      permission: (request) => ({ decision: request.tool.name === "ask" ? "ask" : "allow" }),
      limits: { steps: 30 },
      retry: { attempts: 2, delay: 1 },
    });
  }
}

function asBeat(beat: Beat | string): Beat {
  return typeof beat === "string" ? text(beat) : beat;
}

/** Plays a conversation with these commands, and says what is wrong with it. */
async function problemsOf(names: readonly (keyof typeof SCENES)[], plan: readonly Command[], slow: boolean) {
  const session = await Session.open(storeOf([], slow));
  const moments = new Moments(session, names, plan);
  await moments.play();
  const problems = moments.check();
  await session.close();
  return { problems, seen: moments.seen };
}

/** A turn with everything in it: an edit whose outcome stands before the calls of its message, sub-agents, a summary. */
const WHOLE = ["look", "listen", "heard", "launch", "look", "busy", "shorten", "ask", "listen", "answer"] as const;

describe("commands at any moment of a turn", () => {
  test.each(COMMANDS)("F25: %s, behind each item of the feed of a whole turn", async (name) => {
    const { seen } = await problemsOf(WHOLE, [], false);
    expect(seen).toBeGreaterThan(80);
    // Each command begins elsewhere, so that all moments are had among them.
    for (let at = LONG ? 0 : COMMANDS.indexOf(name) % 3; at < seen; at += LONG ? 1 : 3) {
      const { problems } = await problemsOf(WHOLE, [{ name, at, what: at }], at % 2 === 0);
      expect(problems, `behind ${at} items`).toEqual([]);
    }
  });

  test("F25: one run is on a branch, each call has one start and one result, and every text is heard once", async () => {
    await fc.assert(
      fc.asyncProperty(scenes, commands, fc.boolean(), async (names, plan, slow) => {
        expect((await problemsOf(names, plan, slow)).problems).toEqual([]);
      }),
      { numRuns: LONG ? 10_000 : 200 },
    );
  });
});
