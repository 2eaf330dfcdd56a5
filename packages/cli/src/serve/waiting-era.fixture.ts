import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ClientError, type WatchedConversation } from "@banyan/client";
import { type Call, type ConversationState, createId, type Event, textOf } from "@banyan/core";
import { checkConversation } from "@banyan/core/testing";
import { fromJson } from "@banyan/host/exchange";
import type { Result } from "@banyan/protocol";
import { superuser, testDatabase } from "@banyan/store/testing";
import { expect } from "vitest";
import { type Home, home, type Running } from "../testing/banyan.ts";
import { type ModelServer, modelServer, type ServerAnswer, type ServerRequest } from "../testing/model-server.ts";
import { connected, serving } from "../testing/serving.ts";

/** The program of an earlier commit. `scripts/` is not part of the build, so its type is repeated here. */
type EarlierProgram = Disposable & { readonly main: string };

/** Number of waiting conversations. */
const CONVERSATIONS = 3;

/** Maximum milliseconds until a turn ends or asks. */
const PATIENCE = 60_000;

/** The end of a server. `drained`: its successor already runs. `replaced`: the other version of the program takes over. */
export type End = "killed" | "stopped" | "drained" | "replaced";
type Listed = Result<"question.list">["waiting"][number];
/** A random integer from 0 up to, but excluding, `below`. */
export type Pick = (below: number) => number;

const work = (name: string) => ({ tool: "shell", input: { command: `./work ${name}` } });

/** The model: two calls that ask, a sub-agent with one call that runs and one that asks, a question, and answers. */
function answerTo({ messages }: ServerRequest): ServerAnswer {
  const said = JSON.stringify(messages);
  const results = messages.filter(({ role }) => role === "tool").length;
  const [, go] = /Please go (\w+)/.exec(said) ?? [];
  if (go === undefined) {
    const [, task = ""] = /Look into (\w+)/.exec(said) ?? [];
    if (results === 0) return { calls: [work(`runs-${task}`), work(`below-${task}`)] };
    return { calls: [{ tool: "finish_task", input: { result: "Looked." } }] };
  }
  const launch = { task: `Look into ${go}`, expected_output: "What was seen." };
  if (results === 0)
    return { calls: [{ tool: "launch_agent", input: launch }, work(`first-${go}`), work(`second-${go}`)] };
  if (results === 3) return { calls: [{ tool: "ask_client", input: { question: "Which colour?" } }] };
  return { text: said.includes("And then") ? `Heard ${go}.` : `Done ${go}.` };
}

/** Creates a program that logs its runs and folders. Runs without approval take a while. */
function prepare(place: Home): string {
  const ran = join(place.workspace, "..", "ran.txt");
  const script = `#!/bin/sh\necho "$1 $(pwd)" >> '${ran}'\ncase $1 in runs-*) sleep 0.5 ;; esac\n`;
  writeFileSync(join(place.workspace, "work"), script, { mode: 0o755 });
  const config = join(String(place.env.BANYAN_HOME), "config");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "settings.json"), JSON.stringify({ permissions: { allow: ["shell(./work runs-*)"] } }));
  const author = ["-c", "user.name=A test", "-c", "user.email=test@example.com"];
  for (const args of [
    ["init", "-q"],
    ["add", "work"],
    [...author, "commit", "-qm", "Begin"],
  ])
    execFileSync("git", args, { cwd: place.workspace, env: place.env });
  return ran;
}

/** A waiting conversation, from the user's view. */
interface Waiting {
  readonly id: string;
  /** Part of all messages and programs of the conversation. */
  readonly name: string;
  readonly folder: string;
  /** Accepted answers by question, each with the number of servers that had ended by then. */
  readonly answered: Map<
    string,
    { readonly allowed: boolean; readonly ends: number; readonly call: string | undefined }
  >;
  /** Questions that the user saw and has not answered. */
  readonly open: Set<string>;
  /** Questions whose answer may be lost with the ending server. */
  readonly doubtful: Set<string>;
}

/** Home, model and database of the conversations. */
interface Site {
  readonly place: Home;
  readonly model: ModelServer;
  readonly database: Awaited<ReturnType<typeof testDatabase>> | undefined;
}

/** Waiting conversations of one store, served by one server after another. */
export class Era implements AsyncDisposable {
  readonly #site: Site;
  readonly #ran: string;
  readonly #earlier: EarlierProgram;
  readonly #pick: Pick;
  readonly #conversations: Waiting[] = [];
  #server!: Running;
  #client!: Client;
  #isEarlier = false;
  /** Answers that are still being sent when a server ends. */
  readonly #onTheirWay: Promise<void>[] = [];
  /** Ends of servers so far. */
  readonly ends: End[] = [];

  private constructor(site: Site, earlier: EarlierProgram, pick: Pick) {
    this.#site = site;
    this.#earlier = earlier;
    this.#pick = pick;
    this.#ran = prepare(site.place);
  }

  /** Starts a server of either version, with conversations. */
  static async begin(store: string, earlier: EarlierProgram, pick: Pick): Promise<Era> {
    const database = store === "PostgreSQL" ? await testDatabase() : undefined;
    const era = new Era({ place: home(), model: await modelServer(answerTo), database }, earlier, pick);
    // The earlier program cannot read a migrated database, so it must come first.
    await era.#start(pick(4) < (database ? 3 : 2));
    for (let count = 0; count < CONVERSATIONS; count++) await era.#converse();
    return era;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { place, model, database } = this.#site;
    this.#server.kill("SIGKILL");
    await model[Symbol.asyncDispose]();
    await database?.remove();
    place[Symbol.dispose]();
  }

  async #start(isEarlier: boolean): Promise<void> {
    const { place, model, database } = this.#site;
    const store = database ? ["--store", database.url, "--drain", "3"] : [];
    const program = isEarlier ? { ...place, main: this.#earlier.main } : place;
    const [server, address] = await serving(program, model.env, ...store);
    this.#server = server;
    this.#isEarlier = isEarlier;
    this.#client = await connected(address);
  }

  /** Begins a conversation, half of them in a worktree, waits up to its first question, and queues another message. */
  async #converse(): Promise<void> {
    const { conversation } = await this.#client.ask("conversation.create", {});
    const name = createId().replaceAll(/\W/g, "");
    let folder = this.#site.place.workspace;
    let at: string | undefined;
    if (this.#pick(2) === 0) {
      at = (await this.#client.ask("worktree.open", { conversation, name })).message;
      const { worktrees } = await this.#client.ask("worktree.list", { conversation });
      folder = worktrees[0]?.folder ?? "";
    }
    this.#conversations.push({
      id: conversation,
      name,
      folder,
      answered: new Map(),
      open: new Set(),
      doubtful: new Set(),
    });
    const watched = await this.#client.watch(conversation).loaded;
    const parts = (text: string) => [{ type: "text", text }] as const;
    await this.#client.ask("turn.say", { conversation, parts: parts(`Please go ${name}`), ...(at && { at }) });
    if (this.#pick(4) > 0) await until(() => watched.state.questions.size > 0, `${name} asks nothing.`);
    const [run] = watched.state.runs.keys();
    const queued = { conversation, parts: parts(`And then ${name}`), delivery: "queue" } as const;
    await this.#client.ask("turn.say", run === undefined ? queued : { ...queued, run });
  }

  /** One random event: a pause, an answer, or an answer that the server may not finish. */
  async happen(): Promise<void> {
    await sleep(this.#pick(400));
    if (this.#pick(3) === 0) return;
    const listed = await this.#list();
    const question = listed[this.#pick(Math.max(1, listed.length))];
    if (!question) return;
    const answering = this.#answer(question);
    if (this.#pick(2) > 0) return answering;
    // The server may end before it replies: the question is then open or answered.
    this.#onTheirWay.push(answering);
    answering.catch(() => {});
  }

  /** Ends the server at random, and starts its successor. */
  async end(): Promise<void> {
    const { database } = this.#site;
    const kinds: readonly End[] = ["killed", "stopped", database ? "drained" : "replaced"];
    const kind = this.#isEarlier ? "replaced" : (kinds[this.#pick(kinds.length)] as End);
    const [server, client] = [this.#server, this.#client];
    await this.#remember();
    const exit = once(server, "exit");
    if (kind === "drained") {
      await this.#start(false);
      server.kill("SIGTERM");
      const isFree = ({ conversation, question }: Listed) => !this.#of(conversation).doubtful.has(question.id);
      const question = (await this.#list()).find(isFree);
      if (question) await this.#answer(question);
      await exit;
    } else {
      const isKilled = kind === "killed" || (kind === "replaced" && this.#pick(2) === 0);
      server.kill(isKilled ? "SIGKILL" : "SIGTERM");
      await exit;
      const over = `UPDATE banyan.nodes SET lease_until = now() - interval '1 s' WHERE process = ${server.pid}`;
      if (database) await superuser(database.url, over);
      await this.#start(kind === "replaced" && !this.#isEarlier);
    }
    client.close();
    this.ends.push(kind);
    await Promise.all(this.#onTheirWay.splice(0));
    await this.#mustList();
  }

  async #list(): Promise<readonly Listed[]> {
    if (!this.#isEarlier) return (await this.#client.ask("question.list", {})).waiting;
    // The earlier program lists only open conversations.
    for (const { id } of this.#conversations) await this.#client.watch(id).loaded;
    return (await this.#client.ask("question.list", {})).waiting;
  }

  /** Remembers the user's open questions before the server ends. */
  async #remember(): Promise<void> {
    for (const { conversation, question } of await this.#list()) {
      const { open, doubtful } = this.#of(conversation);
      if (!doubtful.has(question.id)) open.add(question.id);
    }
  }

  /** Each open question must be listed under its id, and no answered one. */
  async #mustList(): Promise<void> {
    const listed = await this.#list();
    const ids = new Set(listed.map(({ question }) => question.id));
    for (const { name, open, answered } of this.#conversations) {
      expect(
        [...open].filter((id) => !ids.has(id)),
        `${name} lost a question in ${this.ends.join()}${this.#isEarlier ? " (earlier)" : ""}`,
      ).toEqual([]);
      expect(
        [...answered.keys()].filter((id) => ids.has(id)),
        `${name} asks again`,
      ).toEqual([]);
    }
  }

  #of(conversation: string): Waiting {
    const found = this.#conversations.find(({ id }) => id === conversation);
    if (!found) throw new Error(`Nobody began ${conversation}.`);
    return found;
  }

  /** Allows or denies a question, sometimes twice at once: one of two answers counts. */
  async #answer({ conversation, question, call }: Listed): Promise<void> {
    const { answered, open, doubtful } = this.#of(conversation);
    const allowed = this.#pick(5) > 0;
    const decision =
      question.type === "text"
        ? ({ decision: "answer", text: "blue" } as const)
        : ({ decision: allowed ? "allow" : "deny" } as const);
    const client = this.#client;
    open.delete(question.id);
    doubtful.add(question.id);
    const ask = () => client.ask("question.answer", { conversation, question: question.id, answer: decision });
    const outcomes = await Promise.allSettled(this.#pick(3) === 0 ? [ask(), ask()] : [ask()]);
    const taken = outcomes.filter(({ status }) => status === "fulfilled");
    const lost = outcomes.some(
      ({ status, ...rest }) => status === "rejected" && "reason" in rest && isLost(rest.reason),
    );
    if (taken.length === 0 && lost) return;
    expect(taken.length, `answers to ${question.id}: ${JSON.stringify(outcomes)}`).toBe(1);
    expect(taken).toEqual([{ status: "fulfilled", value: {} }]);
    answered.set(question.id, { allowed, ends: this.ends.length, call: call?.id });
  }

  /** Answers all questions until each conversation has ended, then checks the conversations. */
  async finish(): Promise<void> {
    if (this.#isEarlier) await this.end();
    for (const conversation of this.#conversations) {
      const watched = await this.#client.watch(conversation.id).loaded;
      await this.#finish(conversation, watched);
      await watched.read();
      const log = await this.#client.ask("conversation.export", { conversation: conversation.id, format: "json" });
      this.#judge(conversation, watched.state, fromJson(log.text).events);
    }
    const exit = once(this.#server, "exit");
    this.#server.kill("SIGTERM");
    await exit;
  }

  async #finish({ id, name }: Waiting, { state }: WatchedConversation): Promise<void> {
    const isOver = () =>
      state.runs.size === 0 &&
      state.waiting.size === 0 &&
      state.inbox.length === 0 &&
      said(state, `Heard ${name}.`) > 0;
    let idle = performance.now();
    for (const end = performance.now() + 2 * PATIENCE; !isOver(); await sleep(20)) {
      if (performance.now() > end) throw new Error(`${name} does not end: ${shown(state)}`);
      const asked = (await this.#list()).find(({ conversation }) => conversation === id);
      if (asked) await this.#answer(asked);
      if (asked || state.runs.size > 0) idle = performance.now();
      // The user resumes interrupted work; with a database, other servers do.
      if (performance.now() - idle < 1_000) continue;
      await this.#client.ask("turn.resume", { conversation: id });
      idle = performance.now();
    }
  }

  #judge({ id, name, folder, answered }: Waiting, state: ConversationState, log: readonly Event[]): void {
    expect(checkConversation(state, log), id).toEqual([]);
    const answers = log.flatMap((event) =>
      event.type === "call.approval-resolved" || event.type === "question.answered" ? [event.question] : [],
    );
    expect(answers.toSorted(), `${name}: each question is answered once`).toEqual([...new Set(answers)].toSorted());
    const missing = [...answered.keys()].filter((question) => !answers.includes(question));
    expect(missing, `${name}: answers that the log lacks`).toEqual([]);
    expect(said(state, `And then ${name}`), `${name}: text that waited`).toBe(1);
    const ran = existsSync(this.#ran) ? readFileSync(this.#ran, "utf8").split("\n") : [];
    const calls = [...state.messages.values()].flatMap((message) =>
      message.role === "assistant" ? message.calls : [],
    );
    const decided = new Map([...answered.values()].map((answer) => [answer.call, answer]));
    for (const kind of ["runs", "below", "first", "second"]) {
      const lines = ran.filter((line) => line.startsWith(`${kind}-${name} `));
      const asking = calls.filter((call) => JSON.stringify(call.input).includes(`${kind}-${name}"`));
      const why = `${name}: ${kind} ran ${lines.length} times, ${asking.map(({ status, output }) => `${status} ${output}`)}`;
      expect(lines.length, why).toBeLessThanOrEqual(1);
      for (const line of lines) expect(line, why).toBe(`${kind}-${name} ${folder}`);
      if (asking.some(({ status }) => status === "completed")) expect(lines.length, why).toBe(1);
      const isUntouched = ({ status, output = "" }: Call) => status === "denied" || output.startsWith("Not executed");
      if (asking.every(isUntouched)) expect(lines, why).toEqual([]);
      for (const call of asking) this.#judgeAnswered(call, decided.get(call.id), why);
    }
    const colours = calls.filter(({ tool }) => tool === "ask_client");
    expect(
      colours.map(({ output }) => String(output).includes("blue")),
      name,
    ).toEqual([true]);
  }

  /** If no server ended after the answer, the call must match the user's decision. */
  #judgeAnswered(
    { status }: Call,
    answer: { readonly allowed: boolean; readonly ends: number } | undefined,
    why: string,
  ): void {
    if (!answer) return;
    if (!answer.allowed) expect(status, why).toBe("denied");
    else if (answer.ends === this.ends.length) expect(status, why).toBe("completed");
  }
}

function said(state: ConversationState, words: string): number {
  return [...state.messages.values()].filter((message) => textOf(message) === words).length;
}

function shown({ runs, waiting, inbox, questions, messages }: ConversationState): string {
  const calls = [...messages.values()].flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const told = calls.map(({ tool, status, output }) => `${tool} ${status} ${output ?? ""}`);
  return JSON.stringify({
    runs: [...runs.values()],
    waiting: [...waiting.values()],
    inbox,
    questions: [...questions.keys()],
    told,
  });
}

/** Returns whether a command failed because its server ended. */
function isLost(error: unknown): boolean {
  return (
    error instanceof ClientError &&
    (error.code === "closed" || error.code === "unreachable" || error.code === "stopping")
  );
}

async function until(holds: () => boolean, otherwise: string): Promise<void> {
  for (const end = performance.now() + PATIENCE; !holds(); await sleep(10))
    if (performance.now() > end) throw new Error(otherwise);
}
