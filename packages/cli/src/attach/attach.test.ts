import { once } from "node:events";
import { expect, test } from "vitest";
import { subcommandIn } from "../subcommands.ts";
import { banyan, home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { connected, serving, TOKEN, until } from "../testing/serving.ts";

const say = (text: string) => [{ type: "text", text }] as const;

test.skipIf(!hasTmux)(
  "T43: a terminal and another client see the same stream and queue, and an answer in one removes the question in the other",
  async () => {
    using place = home();
    const write = { tool: "write", input: { path: "oak.txt", content: "tall\n" } };
    await using model = await modelServer(
      { text: ["Hello ", "to ", "you."] },
      { calls: [write] },
      { text: "Written." },
      { calls: [{ ...write, input: { path: "fig.txt", content: "small\n" } }] },
      { text: "Not written." },
      { calls: [{ ...write, input: { path: "elm.txt", content: "old\n" } }] },
      { text: "Written, too." },
      { text: "Here is ", stalls: true },
      { text: "Heard." },
    );
    const [server, address] = await serving(place, model.env);
    const remote = await connected(address);
    using terminal = Pty.open(place, ["attach", "--new", "--plain"], model.env);
    await terminal.prompted();
    terminal.enter("hello");
    await terminal.until("Hello to you.");
    const { conversation } = await remote.ask("conversation.open", {});
    const watched = await remote.watch(conversation).loaded;
    await until(watched, () => watched.state.runs.size === 0);
    const spoken = () => [...watched.state.messages.values()].map(({ parts }) => parts);
    expect(spoken()).toEqual([say("hello"), say("Hello to you.")]);

    using full = Pty.open(place, ["attach", "--resume", conversation], model.env);
    expect(await full.prompted()).toContain("Hello to you.");

    // Messages of the other client appear here, and questions can be answered there.
    await remote.ask("turn.say", { conversation, parts: say("plant an oak") });
    await terminal.until("plant an oak");
    await terminal.until("banyan asks to run write");
    await terminal.until(/^Allow this\?\s*(?![\s\S])/);
    await full.asked();
    await until(watched, () => watched.state.questions.size === 1);
    const [question] = watched.state.questions.keys();
    await remote.ask("question.answer", { conversation, question: question ?? "", answer: { decision: "allow" } });
    await terminal.until("Written.");
    await full.until("Written.");
    expect(await full.prompted()).not.toContain("Allow this?");

    // And in the other direction.
    await terminal.prompted();
    terminal.enter("plant a fig");
    await terminal.until("banyan asks to run write", 2);
    await until(watched, () => watched.state.questions.size === 1);
    await terminal.until(/^Allow this\?/, 2);
    terminal.enter("6");
    await until(watched, () => watched.state.questions.size === 0);
    await terminal.until("Not written.");
    await full.until("Not written.");
    expect(await full.prompted()).toContain("plant a fig");

    // A full terminal answers with a key, and the question disappears from the other terminal.
    await terminal.prompted();
    terminal.enter("plant an elm");
    await full.until("banyan asks to run write");
    await full.asked();
    full.press("y", "Enter");
    await terminal.until("Written, too.");
    await full.until("Written, too.");

    // A message during the turn steers the agent, for all clients; leaving does not stop the agent.
    await remote.ask("turn.say", { conversation, parts: say("tell me more") });
    await terminal.until("Here is");
    terminal.enter("be brief");
    await until(watched, () => watched.state.inbox.length === 1);
    expect(watched.state.inbox).toMatchObject([{ delivery: "steer", parts: say("be brief") }]);
    terminal.press("C-d");
    await terminal.until(`attach: banyan attach --resume ${conversation}`);
    expect(watched.state.runs.size).toBe(1);
    await remote.ask("run.interrupt", { conversation });
    await until(watched, () => watched.state.runs.size === 0);
    server.kill("SIGINT");
    expect(await once(server, "exit")).toEqual([0, null]);
  },
);

test.skipIf(!hasTmux)("F5: a terminal that opens a server's conversation gets the command to attach", async () => {
  using place = home();
  await using model = await modelServer({ text: "Hello to you." });
  const [, address] = await serving(place, model.env);
  const remote = await connected(address);
  const { conversation } = await remote.ask("conversation.create", {});
  const watched = await remote.watch(conversation).loaded;
  await remote.ask("turn.say", { conversation, parts: say("hello") });
  await until(watched, () => watched.state.messages.size === 2 && watched.state.runs.size === 0);
  const args = ["-p", "and me?", "--resume", conversation, "--model", "openai-compatible/test"];
  const { code, stderr } = await banyan(place, args, { env: model.env });
  expect(code).toBe(2);
  expect(stderr).toContain(`Or join it there: banyan attach ${address} --resume ${conversation}`);
});

test.each([
  [["http://127.0.0.1:1", "--resume", "oaks"], { address: "http://127.0.0.1:1", resume: "oaks" }],
  [["--resume", "http://127.0.0.1:1"], { address: "http://127.0.0.1:1", resume: true }],
  [["-r", "http://127.0.0.1:1/"], { address: "http://127.0.0.1:1/", resume: true }],
  [["--resume", "https://a.example/c/an~20oak~2F7"], { address: "https://a.example", piece: "an~20oak~2F7" }],
  [["https://a.example/c/an%20oak"], { address: "https://a.example", piece: "an%20oak" }],
  [["--resume", "https://a.example/c/01kabc"], { address: "https://a.example", piece: "01kabc" }],
  [["https://a.example/c/01kabc?leaf=01kdef"], { address: "https://a.example", piece: "01kabc" }],
  [["https://a.example/c/01kabc", "--resume", "oaks"], { address: "https://a.example", resume: "oaks" }],
  [["--resume", "http://a.example/page is a title"], { resume: "http://a.example/page is a title" }],
  [["localhost:1", "--resume"], { address: "localhost:1", resume: true }],
])("T41: attach %j knows an address from the name of a conversation", (line, meant) => {
  expect(subcommandIn(["attach", ...line])).toEqual({
    type: "attach",
    arguments: { new: false, color: "auto", plain: false, ...meant },
  });
});

test("attach says what it needs: a terminal, a server, a token, and no token in an address", async () => {
  using place = home();
  const { stderr, code } = await banyan(place, ["attach"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("needs a terminal") });
  const { findServer } = await import("./which-server.ts");
  expect(() => findServer("http://127.0.0.1:1/?token=secret", "/", "")).toThrow("BANYAN_TOKEN");
  expect(() => findServer("http://user:secret@127.0.0.1:1", "/", "")).toThrow("Do not put the token into the address");
  expect(() => findServer("127.0.0.1:1", "/", "")).toThrow(
    "Set BANYAN_TOKEN to the token of the server at http://127.0.0.1:1.",
  );
  expect(findServer("127.0.0.1:1", "/", TOKEN)).toEqual({ address: "http://127.0.0.1:1", token: TOKEN });
});
