import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ModelDriver, pathTo, type Session, say } from "@banyan/core";
import { callIn } from "@banyan/core/conversation";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { type HostFlags, openHost } from "../host/open-host.ts";
import { bring } from "./bring.ts";
import { PersonsRepository } from "./repository.fixture.ts";

/** A host whose workspace is a repository, and a conversation with a branch that has a worktree. */
async function working(settings: object = {}, flags: HostFlags = {}, canAsk = true) {
  const person = PersonsRepository.of("plain");
  const own = join(person.root, "own");
  mkdirSync(join(own, "config"), { recursive: true });
  writeFileSync(join(own, "config/settings.json"), JSON.stringify(settings));
  const env = { ...person.env, BANYAN_HOME: own, BANYAN_NO_DISCOVERY: "1" };
  const host = await openHost({
    cwd: person.workspace,
    home: person.env.HOME,
    env,
    flags: { model: "demo/offline", ...flags },
    canAsk,
  });
  const session = await host.newSession();
  const trunk = await session.add("Find the bug.");
  const [place] = await host.worktrees.open(session, trunk, ["attempt"]);
  const at = place?.at ?? "";
  const folder = await host.worktrees.folderAt(session.state, at);
  onTestFinished(async () => {
    await session.close();
    await host.close();
    person[Symbol.dispose]();
  });
  return { person, host, session, trunk, at, folder };
}

const SAMPLE = join(import.meta.dirname, "../../../acp/src/testing/sample-agent.fixture.ts");

/** Takes a turn, and answers its questions. */
async function turn(
  { host, session }: { readonly host: Awaited<ReturnType<typeof openHost>>; readonly session: Session },
  at: string,
  ...calls: ReturnType<typeof call>[]
) {
  const model = scriptedModel([calls, "Done."]);
  for await (const item of host.agent.with({ model, onTurn: undefined }).chat(say("Go on."), { session, at }))
    if (item.type === "call.approval-requested") await session.answer(item.question, { decision: "allow" });
  return pathTo(session.state, session.state.leaf).flatMap((message) =>
    message.role === "assistant" ? message.calls : [],
  );
}

test("C7: each tool, question and edit in a message works in the branch's worktree, and so do a command's files", async () => {
  const { person, host, session, at, folder } = await working();
  const before = person.fingerprint;
  const calls = await turn(
    { host, session },
    at,
    call("read", { path: "new.txt" }),
    call("search", { pattern: "committed" }),
    call("write", { path: "made.txt", content: "made\n" }),
    call("edit", { path: "new.txt", old_text: "new", new_text: "renewed" }),
    call("shell", { command: "pwd; git rev-parse --abbrev-ref HEAD; echo ran > ran.txt" }),
  );
  expect(calls.map(({ status }) => status)).toEqual(Array(5).fill("completed"));
  expect(calls[1]?.output).toContain("src/1/file-1.txt");
  expect(calls[4]?.output).toContain(`${folder}\nbanyan/attempt\n`);
  const file = (name: string) => readFileSync(join(folder, name), "utf8");
  expect([file("made.txt"), file("new.txt"), file("ran.txt")]).toEqual(["made\n", "renewed\n", "ran\n"]);
  const leaf = session.state.leaf ?? "";
  const block = "```txt:new.txt:1:2\\nthrice\\n```\\n".replaceAll("\\n", "\n");
  const model = scriptedModel([[call("edit_mode", { file_path: "new.txt" })], [text(block)], "Done."]);
  for await (const item of host.agent.with({ model }).chat(say("Again."), { session, at: leaf }))
    if (item.type === "call.approval-requested") await session.answer(item.question, { decision: "allow" });
  expect(file("new.txt")).toBe("thrice\n");
  expect(person.fingerprint).toBe(before);
});

test("F98: the model reads earlier messages of its branch in a worktree too, without secrets or questions", async () => {
  const { host, session, at } = await working({ permissions: { deny: ["read(**)"] } });
  const key = `ghp_${"a1B2".repeat(9)}`;
  const said = await session.add(`The key is ${key}.`, { at });
  const model = scriptedModel([[call("read", { path: "earlier:#1" }), call("read", { path: "earlier:#3" })], "Done."]);
  const types: string[] = [];
  for await (const { type } of host.agent.with({ model }).chat(say("Go on."), { session, at: said })) types.push(type);
  const message = pathTo(session.state, session.state.leaf).find(({ role }) => role === "assistant");
  const outputs = message?.role === "assistant" ? message.calls.map(({ output }) => output) : [];
  expect(outputs).toEqual([
    "1\t[Message 1 of this conversation, by the user.]\n2\tFind the bug.\n",
    expect.stringMatching(/by the user\.\]\n2\tThe key is \[redacted:[^\]]+\]\.\n$/),
  ]);
  expect(types).not.toContain("call.approval-requested");
});

/** Takes a turn, allows each call, and returns the folder that each question named. */
async function askedIn(
  { host, session }: Pick<Awaited<ReturnType<typeof working>>, "host" | "session">,
  at: string,
  model: ModelDriver,
) {
  const folders: (string | undefined)[] = [];
  for await (const item of host.agent.with({ model, onTurn: undefined }).chat(say("Go on."), { session, at })) {
    if (item.type !== "call.approval-requested") continue;
    folders.push(callIn(session.state, item)?.about?.folder);
    await session.answer(item.question, { decision: "allow" });
  }
  return folders;
}

test("S31: a question names the folder in which its call works: for each tool, on a branch with a worktree, and for a sub-agent", async () => {
  const { person, host, session, trunk, at, folder } = await working({ subAgentWorktrees: true });
  const calls = [
    call("write", { path: "made.txt", content: "made\n" }),
    call("edit", { path: "new.txt", old_text: "new", new_text: "renewed" }),
    call("edit_mode", { file_path: "new.txt" }),
    call("shell", { command: "cd src && pwd > ../ran.txt" }),
  ];
  const ran = (where: string) => readFileSync(join(where, "ran.txt"), "utf8");
  expect(await askedIn({ host, session }, at, scriptedModel([calls, "Done."]))).toEqual(Array(4).fill(folder));
  expect(ran(folder)).toBe(`${folder}/src\n`);
  expect(await askedIn({ host, session }, trunk, scriptedModel([calls, "Done."]))).toEqual(
    Array(4).fill(person.workspace),
  );
  expect(ran(person.workspace)).toBe(`${person.workspace}/src\n`);

  const launch = (task: string) => call("launch_agent", { task, expected_output: "What was done." });
  const launching = (tasks: readonly string[]) =>
    scriptedModel(({ messages }) => {
      const said = JSON.stringify(messages);
      const [task] = /Do it \w+/.exec(said) ?? [];
      const last = messages.at(-1);
      const isNext = last?.role === "assistant" && last.results.length > 0;
      if (task === undefined || said.includes("Go on.")) return isNext ? "Done." : tasks.map(launch);
      return isNext
        ? [call("finish_task", { result: "done" })]
        : [call("shell", { command: `pwd > ${task.slice(6)}.txt` })];
    });
  expect(await askedIn({ host, session }, at, launching(["Do it alone"]))).toEqual([folder]);
  expect(readFileSync(join(folder, "alone.txt"), "utf8")).toBe(`${folder}\n`);
  // Both sub-agents have their own worktrees, and their changes were merged unchanged.
  const apart = await askedIn({ host, session }, trunk, launching(["Do it first", "Do it second"]));
  const done = ["first", "second"].map((name) => readFileSync(join(person.workspace, `${name}.txt`), "utf8").trim());
  expect(apart.toSorted()).toEqual(done.toSorted());
  expect(new Set([...apart, folder, person.workspace]).size).toBe(4);
});

test("S31: bring_over names its target folder", async () => {
  const { person, host, session, trunk, at, folder } = await working();
  writeFileSync(join(folder, "brought.txt"), "brought\n");
  const { bring: tool } = await host.ready();
  const { worktrees } = host;
  const bringing = bring(session, { agent: host.agent, worktrees, tool, from: at, to: trunk });
  const asked = () => session.state.questions.values().next().value;
  const question = await vi.waitUntil(asked, { timeout: 60_000 });
  if (question.type !== "approval") throw new Error("Nobody is asked.");
  expect(callIn(session.state, question)?.about?.folder).toBe(person.workspace);
  await session.answer(question.id, { decision: "allow" });
  await bringing;
  expect(existsSync(join(person.workspace, "brought.txt"))).toBe(true);
});

test("C7: rules mean the same file of the worktree, also with an absolute path of the workspace", async () => {
  const { person, host, session, at, folder } = await working({}, { approval: "edits" });
  const secret = join(person.workspace, "src/1");
  host.remember(`read(${secret}/**)`, "deny");
  host.remember("write(src/2/**)", "deny");
  host.remember("shell(touch allowed)", "allow");
  const calls = await turn(
    { host, session },
    at,
    call("read", { path: "src/1/file-1.txt" }),
    call("read", { path: join(folder, "src/1/file-1.txt") }),
    call("read", { path: join(secret, "file-1.txt") }),
    call("write", { path: "src/2/file-9.txt", content: "no" }),
    call("write", { path: "src/3/made.txt", content: "yes" }),
    call("shell", { command: "touch allowed" }),
    call("read", { path: join(person.workspace, "new.txt") }),
  );
  expect(calls.map(({ status, approved }) => [status, approved])).toEqual([
    ...[1, 2, 3, 4].map(() => ["denied", undefined]),
    ...[1, 2].map(() => ["completed", undefined]),
    // The branch's tools cannot reach another folder, so there is no question (S35).
    ["denied", undefined],
  ]);
  expect(existsSync(join(folder, "allowed"))).toBe(true);
});

test("C7: without a user, exactly the acts that are free in the workspace are free in the worktree", async () => {
  const { host, session, at, person } = await working({}, { approval: "edits" }, false);
  const calls = await turn(
    { host, session },
    at,
    call("write", { path: "made.txt", content: "yes" }),
    call("write", { path: join(person.workspace, "made.txt"), content: "no" }),
    call("shell", { command: "touch x" }),
  );
  expect(calls.map(({ status }) => status)).toEqual(["completed", "denied", "denied"]);
});

test("C7: each call in a branch whose worktree was removed by hand says so, and changes nothing", async () => {
  const { person, host, session, at, folder } = await working();
  const { rmSync } = await import("node:fs");
  rmSync(folder, { recursive: true });
  const before = person.fingerprint;
  const calls = await turn(
    { host, session },
    at,
    call("write", { path: "new.txt", content: "no" }),
    call("read", { path: "new.txt" }),
  );
  for (const { status, output } of calls) {
    expect(status).toBe("denied");
    expect(output).toContain("The worktree attempt of this branch no longer exists.");
  }
  expect(person.fingerprint).toBe(before);
});

test("C7: sub-agents that are launched together have files of their own, which are put together when each is done", async () => {
  const { person, host, session, trunk } = await working({ subAgentWorktrees: true }, { approval: "edits" });
  writeFileSync(join(person.top, "shared.txt"), "one\ntwo\nthree\nfour\nfive\n");
  const launch = (task: string) => call("launch_agent", { task, expected_output: "What was done." });
  const folders: string[] = [];
  const model = scriptedModel(({ messages }) => {
    const said = JSON.stringify(messages);
    const number = /Change line (\d)/.exec(said)?.[1];
    const last = messages.at(-1);
    const results = last?.role === "assistant" ? last.results : [];
    if (results.some(({ tool }) => tool === "launch_agent")) return "All is done.";
    if (number === undefined || said.includes("Launch them"))
      return ["1", "5", "1 again: Change line 1"].slice(0, 2).map((line) => launch(`Change line ${line}`));
    if (results.length > 0) {
      for (const { output } of results) folders.push(...(/worktrees\/\S+/.exec(output) ?? []));
      return [call("finish_task", { result: `line ${number} is changed` })];
    }
    const word = number === "1" ? "one" : "five";
    return [
      call("edit", { path: "shared.txt", old_text: word, new_text: word.toUpperCase() }),
      call("write", { path: `by-${number}.txt`, content: `${number}\n` }),
    ];
  });
  for await (const item of host.agent.with({ model }).chat(say("Launch them."), { session, at: trunk })) {
    if (item.type === "call.approval-requested") await session.answer(item.question, { decision: "allow" });
  }
  const path = pathTo(session.state, session.state.leaf);
  const launched = path
    .flatMap((message) => (message.role === "assistant" ? message.calls : []))
    .filter(({ tool }) => tool === "launch_agent");
  expect(launched.map(({ output, changes = [] }) => [output, changes.map(({ path: name }) => name)])).toEqual([
    [
      expect.stringMatching(
        /^line 1 is changed\n\nThe sub-agent's file changes are now in your files:\ncreated by-1\.txt \(\+1 -0\)\nchanged shared\.txt \(\+1 -1\)$/,
      ),
      ["by-1.txt", "shared.txt"],
    ],
    [expect.stringMatching(/^line 5 is changed/), ["by-5.txt", "shared.txt"]],
  ]);
  const read = (name: string) => readFileSync(join(person.top, name), "utf8");
  expect(read("shared.txt")).toBe("ONE\ntwo\nthree\nfour\nFIVE\n");
  expect([read("by-1.txt"), read("by-5.txt")]).toEqual(["1\n", "5\n"]);
  // The sub-agents' worktrees are gone; the branch's exists.
  expect((await host.worktrees.list()).map(({ name }) => name)).toEqual(["attempt"]);
});

test("S31: an agent of another program works where its branch does, as the model of a turn and as a sub-agent", async () => {
  const { person, host, session, at, folder } = await working({
    acpAgents: { sample: { command: process.execPath, args: [SAMPLE] } },
    agents: { helper: { description: "Helps.", instructions: "Be kind.", model: "acp/sample" } },
  });
  await host.ready();
  const before = person.fingerprint;
  const allowing = async (agent: typeof host.agent, text: string) => {
    for await (const item of agent.chat(say(text), { session, at }))
      if (item.type === "call.approval-requested") {
        const about = callIn(session.state, item)?.about;
        expect(about?.folder).toBe(folder);
        await session.answer(item.question, { decision: "allow" });
      }
  };
  await allowing(await host.agentWith("acp/sample"), "edit turn.txt made");
  expect(readFileSync(join(folder, "turn.txt"), "utf8")).toBe("made");

  const task = { task: "edit sub.txt made", expected_output: "words", agent: "helper" };
  const model = scriptedModel([[call("launch_agent", task)], "Done."]);
  const launching = host.agent.with({ model, onTurn: undefined });
  for await (const item of launching.chat(say("Go on."), { session, at }))
    if (item.type === "call.approval-requested") await session.answer(item.question, { decision: "allow" });
  expect(readFileSync(join(folder, "sub.txt"), "utf8")).toBe("made");
  expect(person.fingerprint).toEqual(before);
});
