import { once } from "node:events";
import { whyNoPostgres } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isDone, type NodeProcess, Nodes, say } from "../testing/nodes.fixture.ts";

const title = whyNoPostgres === undefined ? "" : ` (skipped: ${whyNoPostgres})`;

describe.skipIf(whyNoPostgres !== undefined)(`several servers on one database${title}`, () => {
  let nodes: Nodes;
  const start = (pace = 2) => nodes.start({ pace });
  const open = (node: NodeProcess) => nodes.client(node);
  const last = (count: number) => nodes.all.slice(-count) as [NodeProcess, NodeProcess, NodeProcess];

  beforeAll(async () => {
    nodes = await Nodes.onOneDatabase();
  });
  afterAll(() => nodes.remove());

  test("the owner executes a message sent to another node, and all nodes show the turn live, without gaps", async () => {
    const [one, two, three] = await Promise.all([start(10), start(10), start(10)]);
    const [a, b, c] = [await open(one), await open(two), await open(three)];
    await a.ask("conversation.create", { conversation: "garden" });
    const { message } = await b.ask("turn.say", { conversation: "garden", parts: say("please go") });
    expect(message).toBeDefined();
    const mirrors = await Promise.all([a, b, c].map((client) => client.watch("garden")));
    // Fragments come from the node that runs the turn.
    await c.item("text.delta");
    await Promise.all([a, b, c].map((client) => client.until(() => isDone(client, "garden"))));
    for (const mirror of mirrors)
      expect([...mirror.state.messages.keys()]).toEqual([...(mirrors[0]?.state.messages.keys() ?? [])]);
    expect((await nodes.stored("garden")).wrong).toEqual([]);
    const list = await c.ask("conversation.list", {});
    expect(list.conversations.map(({ id }) => id)).toContain("garden");
  });

  test("a question of one is answered on another, once, and a stop on a third ends the tool on the first", async () => {
    const [one, two, three] = last(3);
    const [a, b, c] = [await open(one), await open(two), await open(three)];
    await a.ask("turn.say", {
      conversation: (await a.ask("conversation.create", { conversation: "ask me" })).conversation,
      parts: say("go"),
    });
    await a.watch("ask me");
    for (let count = 0; count < 2; count++) {
      const asked = await a.until(() => [...(a.mirrors.get("ask me")?.state.questions.keys() ?? [])][0]);
      // Every list shows the waiting question.
      const listed = async () => (await b.ask("conversation.list", {})).conversations.find(({ id }) => id === "ask me");
      await expect.poll(listed).toMatchObject({ running: 1, waiting: 1 });
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
    while (!nodes.effects.includes("waiting")) await new Promise((resolve) => setTimeout(resolve, 20));
    const listed = async () => (await c.ask("conversation.list", {})).conversations.find(({ id }) => id === "slow");
    await expect.poll(listed).toMatchObject({ running: 1, waiting: 0 });
    expect((await c.ask("run.interrupt", { conversation: "slow" })).interrupted).toBe(1);
    while (!nodes.effects.includes("stopped")) await new Promise((resolve) => setTimeout(resolve, 20));
    await expect.poll(listed).toMatchObject({ running: 0, waiting: 0 });
  });

  test("turns whose node is killed are gone on with by the others: all end, nothing is lost, no effect is had twice", async () => {
    const [one, two, three] = last(3);
    const client = await open(one);
    const watcher = await open(three);
    const ids = Array.from({ length: 9 }, (_, index) => `turn ${index}`);
    for (const id of ids) {
      await client.ask("conversation.create", { conversation: id });
      await client.ask("turn.say", { conversation: id, parts: say("go") });
    }
    await watcher.watch("turn 0");
    while (nodes.effects.length < 5) await new Promise((resolve) => setTimeout(resolve, 10));
    await one.kill();
    await nodes.leaseIsOver(one);
    await watcher.until(() => isDone(watcher, "turn 0"));
    for (const id of ids) {
      const other = await open(two);
      await other.watch(id);
      await other.until(() => isDone(other, id));
      // The next write also stores what the dead writer had not stored.
      await other.ask("conversation.rename", { conversation: id, title: "Done" });
      other.socket.close();
      const { events, wrong } = await nodes.stored(id);
      expect(wrong).toEqual([]);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    }
    expect(new Set(nodes.acts).size).toBe(nodes.acts.length);
  });

  test("a node that slept is overtaken and writes nothing when it wakes; other nodes continue its conversations", async () => {
    const [two, three] = last(2);
    const client = await open(two);
    await client.ask("conversation.create", { conversation: "sleeper" });
    await client.ask("turn.say", { conversation: "sleeper", parts: say("go") });
    two.child.kill("SIGSTOP");
    await nodes.leaseIsOver(two);
    const other = await open(three);
    // Another writer has written to the conversation.
    while (!(await nodes.stored("sleeper")).events.some(({ epoch }) => epoch > 1))
      await new Promise((resolve) => setTimeout(resolve, 50));
    two.child.kill("SIGCONT");
    await other.watch("sleeper");
    await other.until(() => isDone(other, "sleeper"));
    expect((await nodes.stored("sleeper")).wrong).toEqual([]);
    // The node belongs to the cluster again.
    const again = await open(two);
    await again.ask("turn.say", { conversation: "sleeper", parts: say("once more") });
    await other.until(() => (other.mirrors.get("sleeper")?.state.messages.size ?? 0) > 5 && isDone(other, "sleeper"));
  });

  test("a node that is told to end hands over what runs, and is not ready meanwhile", async () => {
    const [two, three] = last(2);
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
    expect((await nodes.stored("handed over")).wrong).toEqual([]);
  });

  test.skipIf(!process.env.BANYAN_LONG)(
    "the owner answers a conversation's commands, not an overtaken node that slept",
    async () => {
      const [slept, owner, third] = [await start(), await start(), await start()];
      const [a, b, c] = [await open(slept), await open(owner), await open(third)];
      await a.ask("conversation.create", { conversation: "overtaken" });
      await a.ask("conversation.rename", { conversation: "overtaken", title: "Begun" });
      // A watching client keeps the conversation open.
      await a.watch("overtaken");
      slept.child.kill("SIGSTOP");
      await nodes.leaseIsOver(slept);
      await b.ask("conversation.rename", { conversation: "overtaken", title: "Taken" });
      // The node that slept is the first to see the waiting command.
      owner.child.kill("SIGSTOP");
      const asked = c.ask("conversation.rename", { conversation: "overtaken", title: "Done" });
      slept.child.kill("SIGCONT");
      // It tried and lost the conversation: its watching client reads from the database.
      await a.until(() => a.mirrors.get("overtaken")?.state.title === "Taken");
      owner.child.kill("SIGCONT");
      await asked;
      const titles = (await nodes.stored("overtaken")).events.filter(({ type }) => type === "title.changed");
      expect(titles).toMatchObject([{ title: "Begun" }, { title: "Taken" }, { title: "Done" }]);
    },
  );
});
