import { once } from "node:events";
import { superuser, whyNoPostgres } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isDone, type NodeProcess, Nodes, say } from "../testing/nodes.fixture.ts";
import type { TestClient } from "../testing/test-client.fixture.ts";

const title = whyNoPostgres === undefined ? "" : ` (skipped: ${whyNoPostgres})`;

/** The questions that a node lists for a conversation. */
async function listed(client: TestClient, conversation: string) {
  const { waiting } = await client.ask("question.list", {});
  return waiting.filter((each) => each.conversation === conversation);
}

/** The runs and questions that a node counts for a conversation. */
async function counted(client: TestClient, conversation: string) {
  const { conversations } = await client.ask("conversation.list", {});
  const { running, waiting } = conversations.find(({ id }) => id === conversation) ?? {};
  return { running, waiting };
}

/** Resolves when a client that watches the list receives these counts after the earlier frames. */
function told(
  client: TestClient,
  conversation: string,
  counts: { readonly running: number; readonly waiting: number },
) {
  const before = client.frames.length;
  return client.until(() =>
    client.frames
      .slice(before)
      .find(
        (frame) =>
          frame.type === "conversations" &&
          frame.changed.some(
            ({ id, running, waiting }) =>
              id === conversation && running === counts.running && waiting === counts.waiting,
          ),
      ),
  );
}

describe.skipIf(whyNoPostgres !== undefined)(`F74: questions on all nodes${title}`, () => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await Nodes.onOneDatabase();
  });
  afterAll(() => nodes.remove());

  /** A turn on the first node that waits for an approval, and clients of three nodes of which the second watches the list. */
  async function waitingTurn(conversation: string) {
    const started = await Promise.all([nodes.start(), nodes.start(), nodes.start()]);
    const [a, b, c] = (await Promise.all(started.map((node) => nodes.client(node)))) as [
      TestClient,
      TestClient,
      TestClient,
    ];
    await b.ask("conversation.watch", { on: true });
    const appears = told(b, conversation, { running: 1, waiting: 1 });
    await a.ask("conversation.create", { conversation });
    await a.watch(conversation);
    await a.ask("turn.say", { conversation, parts: say("go") });
    const question = await a.until(() => [...(a.mirrors.get(conversation)?.state.questions.keys() ?? [])][0]);
    await appears;
    return { nodes: started as [NodeProcess, NodeProcess, NodeProcess], clients: [a, b, c] as const, question };
  }

  /** Allows each call until the turn ends, on one node after the other; returns how many were allowed. */
  async function allowAll(conversation: string, clients: readonly TestClient[]): Promise<number> {
    const [watcher] = clients as [TestClient];
    await watcher.watch(conversation);
    const state = () => watcher.mirrors.get(conversation)?.state;
    for (let count = 0; ; count++) {
      await watcher.until(() => state()?.questions.size || isDone(watcher, conversation));
      const [question] = state()?.questions.keys() ?? [];
      if (question === undefined) return count;
      const client = clients[count % clients.length] as TestClient;
      await client.ask("question.answer", { conversation, question, answer: { decision: "allow" } });
      await watcher.until(() => !state()?.questions.has(question));
    }
  }

  test("every node lists another node's question, its watchers see the question appear and disappear, and one of two answers counts", async () => {
    const conversation = "ask here";
    const before = nodes.acts.length;
    const { clients, question } = await waitingTurn(conversation);
    const [, b, c] = clients;
    for (const client of clients) {
      expect(await listed(client, conversation)).toMatchObject([
        { question: { id: question, type: "approval" }, call: { tool: "act", input: { step: 0 } }, ofSubAgent: false },
      ]);
      expect(await counted(client, conversation)).toEqual({ running: 1, waiting: 1 });
    }
    const release = nodes.holdActs();
    const gone = told(b, conversation, { running: 1, waiting: 0 });
    const answers = await Promise.allSettled(
      [b, c].map((client) => client.ask("question.answer", { conversation, question, answer: { decision: "allow" } })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await gone;
    expect(await listed(c, conversation)).toEqual([]);
    release();
    expect(await allowAll(conversation, [c, b])).toBe(1);
    for (const client of clients) {
      expect(await listed(client, conversation)).toEqual([]);
      await expect.poll(() => counted(client, conversation)).toEqual({ running: 0, waiting: 0 });
    }
    expect(nodes.acts.length - before).toBe(2);
    expect((await nodes.stored(conversation)).wrong).toEqual([]);
  });

  test.each(["SIGTERM", "SIGKILL"] as const)(
    "a node ends by %s while a turn waits: the others list the question by its id, open and answer it, and the call runs once",
    async (signal) => {
      const conversation = `ask behind ${signal}`;
      const before = nodes.acts.length;
      const {
        nodes: [ending],
        clients: [, b, c],
        question,
      } = await waitingTurn(conversation);
      const exit = once(ending.child, "exit");
      const rests = told(b, conversation, { running: 0, waiting: 1 });
      ending.child.kill(signal);
      await exit;
      // The lease of the dead node does not affect listing.
      for (const client of [b, c]) {
        expect(await listed(client, conversation)).toMatchObject([
          { question: { id: question }, call: { tool: "act" } },
        ]);
        expect(await counted(client, conversation)).toMatchObject({ waiting: 1 });
      }
      if (signal === "SIGKILL") await nodes.leaseIsOver(ending);
      await rests;
      const mirror = await b.watch(conversation);
      expect([...mirror.state.questions.keys()]).toEqual([question]);
      for (const client of [b, c]) {
        expect(await listed(client, conversation)).toMatchObject([{ question: { id: question } }]);
        expect(await counted(client, conversation)).toEqual({ running: 0, waiting: 1 });
      }
      const answers = await Promise.allSettled(
        [b, c].map((client) =>
          client.ask("question.answer", { conversation, question, answer: { decision: "allow" } }),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      await allowAll(conversation, [b, c]);
      expect(nodes.acts.length - before).toBe(2);
      expect(new Set(nodes.acts).size).toBe(nodes.acts.length);
      expect((await nodes.stored(conversation)).wrong).toEqual([]);
      for (const client of [b, c]) expect(await listed(client, conversation)).toEqual([]);
    },
  );

  test("an answer that is given before the lease of a killed node is over is carried out by the next one", async () => {
    const conversation = "ask early";
    const before = nodes.acts.length;
    const {
      nodes: [ending],
      clients: [, b, c],
      question,
    } = await waitingTurn(conversation);
    await ending.kill();
    const answered = b.ask("question.answer", { conversation, question, answer: { decision: "allow" } });
    await nodes.leaseIsOver(ending);
    expect(await answered).toEqual({});
    await allowAll(conversation, [c, b]);
    expect(nodes.acts.length - before).toBe(2);
    expect((await nodes.stored(conversation)).wrong).toEqual([]);
  });

  test("a client that watches the list learns of a question that its node missed", async () => {
    const [one, two] = await Promise.all([nodes.start(), nodes.start()]);
    const [a, b] = [await nodes.client(one), await nodes.client(two)];
    await b.ask("conversation.watch", { on: true });
    await a.ask("conversation.create", { conversation: "ask unheard" });
    const appears = told(b, "ask unheard", { running: 1, waiting: 1 });
    await superuser(nodes.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
    await a.ask("turn.say", { conversation: "ask unheard", parts: say("go") });
    await appears;
  });
});
