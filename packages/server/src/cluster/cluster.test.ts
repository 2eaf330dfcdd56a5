import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Event, emptyConversation, type Message, reduce, textOf } from "@banyan/core";
import { checkConversation } from "@banyan/core/testing";
import { postgresStore } from "@banyan/store/postgres";
import { superuser, testDatabase, whyNoPostgres } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TOKEN } from "../testing/serving.fixture.ts";
import { TestClient } from "../testing/test-client.fixture.ts";

const PROGRAM = fileURLToPath(new URL("../testing/node-program.fixture.ts", import.meta.url));
const say = (words: string) => [{ type: "text", text: words }] as const;
const LONG = process.env.BANYAN_LONG !== undefined;

const title = whyNoPostgres === undefined ? "" : ` (skipped: ${whyNoPostgres})`;

describe.skipIf(whyNoPostgres !== undefined)(`several servers on one database${title}`, () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let effects: string;
  const nodes: NodeProcess[] = [];

  const start = async (pace = 2, drain = 0) => {
    const node = await NodeProcess.start([database.url, TOKEN, effects, String(pace), String(drain)]);
    nodes.push(node);
    return node;
  };
  /** As if 15 seconds had passed in the database. */
  const leaseIsOver = ({ child }: NodeProcess) =>
    superuser(
      database.url,
      `UPDATE banyan.nodes SET lease_until = now() - interval '1 s' WHERE process = ${child.pid}`,
    );
  const stored = async (conversation: string) => {
    const store = postgresStore(database.url);
    const view = await store.view(conversation);
    const events: Event[] = [];
    const state = emptyConversation(conversation);
    for await (const batch of view.read())
      for (const event of batch) {
        reduce(state, event);
        events.push(event);
      }
    await store.close();
    return { events, wrong: checkConversation(state, events) };
  };

  beforeAll(async () => {
    database = await testDatabase();
    effects = join(mkdtempSync(join(tmpdir(), "banyan-nodes-")), "effects");
  });
  afterAll(async () => {
    for (const { child } of nodes) child.kill("SIGKILL");
    await database.remove();
  });
  const open = (node: NodeProcess) => TestClient.connect({ address: node.address, token: TOKEN });

  test("what is said on one is carried out by the one that has the conversation, and seen live on all, without a gap", async () => {
    const [one, two, three] = await Promise.all([start(10), start(10), start(10)]);
    const [a, b, c] = [await open(one), await open(two), await open(three)];
    await a.ask("conversation.create", { conversation: "garden" });
    const { message } = await b.ask("turn.say", { conversation: "garden", parts: say("please go") });
    expect(message).toBeDefined();
    const mirrors = await Promise.all([a, b, c].map((client) => client.watch("garden")));
    // Fragments come from the node that makes them.
    await c.item("text.delta");
    await Promise.all([a, b, c].map((client) => client.until(() => isDone(client, "garden"))));
    for (const mirror of mirrors)
      expect([...mirror.state.messages.keys()]).toEqual([...(mirrors[0]?.state.messages.keys() ?? [])]);
    expect((await stored("garden")).wrong).toEqual([]);
    const list = await c.ask("conversation.list", {});
    expect(list.conversations.map(({ id }) => id)).toContain("garden");
  });

  test("a question of one is answered on another, once, and a stop on a third ends the tool on the first", async () => {
    const [one, two, three] = nodes.slice(-3) as [NodeProcess, NodeProcess, NodeProcess];
    const [a, b, c] = [await open(one), await open(two), await open(three)];
    await a.ask("turn.say", {
      conversation: (await a.ask("conversation.create", { conversation: "ask me" })).conversation,
      parts: say("go"),
    });
    await a.watch("ask me");
    for (let count = 0; count < 2; count++) {
      const asked = await a.until(() => [...(a.mirrors.get("ask me")?.state.questions.keys() ?? [])][0]);
      const answers = await Promise.allSettled(
        [b, c].map((client) =>
          client.ask("question.answer", { conversation: "ask me", question: asked, answer: { decision: "allow" } }),
        ),
      );
      expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      await a.until(() => !a.mirrors.get("ask me")?.state.questions.has(asked));
    }
    await a.until(() => isDone(a, "ask me"));

    await a.ask("conversation.create", { conversation: "slow" });
    await a.ask("turn.say", { conversation: "slow", parts: say("please wait") });
    while (!linesIn(effects).includes("waiting")) await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await c.ask("run.interrupt", { conversation: "slow" })).interrupted).toBe(1);
    while (!linesIn(effects).includes("stopped")) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  test(`turns whose node is killed are gone on with by the others: all end, nothing is lost, no effect is had twice`, async () => {
    const count = LONG ? 40 : 9;
    const [one, two, three] = nodes.slice(-3) as [NodeProcess, NodeProcess, NodeProcess];
    const client = await open(one);
    const watcher = await open(three);
    const ids = Array.from({ length: count }, (_, index) => `turn ${index}`);
    for (const id of ids) {
      await client.ask("conversation.create", { conversation: id });
      await client.ask("turn.say", { conversation: id, parts: say("go") });
    }
    await watcher.watch("turn 0");
    while (linesIn(effects).length < 5) await new Promise((resolve) => setTimeout(resolve, 10));
    one.child.kill("SIGKILL");
    await once(one.child, "exit");
    if (!LONG) await leaseIsOver(one);
    await watcher.until(() => isDone(watcher, "turn 0"));
    for (const id of ids) {
      const other = await open(two);
      await other.watch(id);
      await other.until(() => isDone(other, id));
      // What its dead writer left to say is written with the next thing that is.
      await other.ask("conversation.rename", { conversation: id, title: "Done" });
      other.socket.close();
      const { events, wrong } = await stored(id);
      expect(wrong).toEqual([]);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    }
    const keys = linesIn(effects).filter((line) => !/^(?:waiting|stopped)$/.test(line));
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("a node that slept is overtaken, and writes nothing when it wakes; what it had goes on elsewhere", async () => {
    const [two, three] = nodes.slice(-2) as [NodeProcess, NodeProcess];
    const client = await open(two);
    await client.ask("conversation.create", { conversation: "sleeper" });
    await client.ask("turn.say", { conversation: "sleeper", parts: say("go") });
    two.child.kill("SIGSTOP");
    if (LONG) await new Promise((resolve) => setTimeout(resolve, 30_000));
    else await leaseIsOver(two);
    const other = await open(three);
    // Another writer has written to it.
    while (!(await stored("sleeper")).events.some(({ epoch }) => epoch > 1))
      await new Promise((resolve) => setTimeout(resolve, 50));
    two.child.kill("SIGCONT");
    await other.watch("sleeper");
    await other.until(() => isDone(other, "sleeper"));
    expect((await stored("sleeper")).wrong).toEqual([]);
    // It is one of them again.
    const again = await open(two);
    await again.ask("turn.say", { conversation: "sleeper", parts: say("once more") });
    await other.until(() => (other.mirrors.get("sleeper")?.state.messages.size ?? 0) > 5 && isDone(other, "sleeper"));
  });

  test("a node that is told to end hands over what runs, and is not ready meanwhile", async () => {
    const [two, three] = nodes.slice(-2) as [NodeProcess, NodeProcess];
    expect(await (await fetch(`${two.address}/healthz`)).text()).toBe("ok\n");
    expect((await fetch(`${two.address}/readyz`)).status).toBe(200);
    const client = await open(two);
    await client.ask("conversation.create", { conversation: "handed over" });
    await client.ask("turn.say", { conversation: "handed over", parts: say("go") });
    two.child.kill("SIGTERM");
    await once(two.child, "exit");
    const other = await open(three);
    await other.watch("handed over");
    await other.until(() => isDone(other, "handed over"));
    expect((await stored("handed over")).wrong).toEqual([]);
  });
});

/** Whether the last message of a conversation is a whole answer, and nothing runs. */
function isDone(client: TestClient, conversation: string): boolean {
  const state = client.mirrors.get(conversation)?.state;
  const last = state?.leaf ? state.messages.get(state.leaf) : undefined;
  return state?.runs.size === 0 && last !== undefined && textOf(last as Message).endsWith("Done.");
}

function linesIn(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

class NodeProcess {
  readonly child: ChildProcess;
  readonly address: string;

  private constructor(child: ChildProcess, address: string) {
    this.child = child;
    this.address = address;
  }

  static async start(args: readonly string[]): Promise<NodeProcess> {
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
    return new NodeProcess(child, String(value));
  }
}
