import { spawnSync } from "node:child_process";
import { Agent, type Answer, Session, say } from "@banyan/core";
import { readUntil, scriptedModel } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { acpAgent } from "./acp-agent.ts";
import { type Person, play, SampleFolders } from "./testing/sample.fixture.ts";

/** Tests more faulty agents and longer conversations: each turn starts a process. */
const LONG = process.env.BANYAN_LONG !== undefined;

const allow = (): Answer => ({ decision: "allow" });

const deny = (): Answer => ({ decision: "deny" });

describe("the conversation stores the text and the calls of an agent", () => {
  test("the agent gets the name and version of the client program", async () => {
    const { text } = await play("client", { model: new SampleFolders().sample() });
    expect(JSON.parse(text)).toEqual({ name: "banyan", title: "Banyan", version: manifest.version });
  });

  test("text and reasoning are parts of one response, with the tokens of the turn", async () => {
    const model = new SampleFolders().sample();
    const { responses, reason } = await play("think hm\nsay Hello\nsay there", { model });
    expect(reason).toBe("answered");
    expect(responses).toMatchObject([
      {
        model: "acp/sample",
        finish: "stop",
        parts: [
          { type: "reasoning", text: "hm" },
          { type: "text", text: "Hellothere" },
        ],
        usage: { input: 120, cached: 100, output: 15 },
      },
    ]);
  });

  test("the conversation stores a call that the agent ran without asking, with its streamed output and its result", async () => {
    const { calls, items, text } = await play("read a.txt\nsay Done", { model: new SampleFolders().sample() });
    expect(calls).toMatchObject([
      {
        tool: "sample_read",
        status: "completed",
        input: { path: "a.txt" },
        about: { title: "Read a.txt", paths: [{ path: "a.txt", access: "read" }] },
        output: "line 1\nline 2",
      },
    ]);
    const said = items.flatMap((item) => (item.type === "call.output.delta" ? [item.text] : []));
    expect(said.join("")).toBe("line 1\nline 2");
    expect(text).toContain("Done");
  });

  test("parallel calls belong to one response, and each call gets its own result", async () => {
    const { responses, calls } = await play("together", { model: new SampleFolders().sample() });
    expect(responses.map(({ calls }) => calls.length)).toEqual([2, 0]);
    expect(calls.map(({ about, output }) => [about?.command, output])).toEqual([
      ["a", "a"],
      ["b", "b"],
    ]);
  });

  test("a call that runs while the agent writes keeps its position in the response", async () => {
    const { calls, text } = await play("nested", { model: new SampleFolders().sample() });
    expect(calls.map(({ tool, status, output }) => [tool, status, output])).toEqual([
      ["sample_think", "completed", "looked"],
      ["sample_read", "completed", "line 1\nline 2"],
    ]);
    expect(text).toContain("meanwhile");
    expect(text).toContain("after");
  });

  test("Banyan writes a result for a call that the agent left without one", async () => {
    const { calls } = await play("forget", { model: new SampleFolders().sample() });
    expect(calls).toMatchObject([
      {
        tool: "sample_their_tool",
        status: "failed",
        output: "[The agent ended its turn without a result for this call.]",
      },
    ]);
  });

  test("each version of a plan becomes reasoning, and the answer does not contain the plan", async () => {
    const { responses, text } = await play("plan\nsay Planned", { model: new SampleFolders().sample() });
    const plans = responses.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "reasoning" ? part.text : [])),
    );
    expect(plans).toEqual(["Plan:\n- [~] look\n- [ ] mend", "Plan:\n- [x] look\n- [ ] mend"]);
    expect(text).toBe("Planned");
  });

  test("the agent's cumulative costs count once, and the cost is unknown if the agent reports none", async () => {
    const model = new SampleFolders().sample("resume");
    const first = await play("spend 0.25\nread a\nspend 0.5", { model });
    expect(first.session.state.cost).toBeCloseTo(0.75);
    const second = await play("spend 0.125", { model, session: first.session });
    expect(second.session.state.cost).toBeCloseTo(0.875);
    const untold = await play("say free", { model: new SampleFolders().sample() });
    expect(untold.session.state.cost).toBeUndefined();
  });

  test.each(
    [
      ["ends max_turn_requests", "length", "The agent stopped: it reached its own limit on model calls."],
      ["ends refusal", "filtered", "The agent refused to continue."],
      ["ends max_tokens", "length", undefined],
    ].slice(0, LONG ? undefined : 1),
  )("the response stores how the agent stopped: %s", async (act, finish, error) => {
    const { responses } = await play(`say So\n${act}`, { model: new SampleFolders().sample() });
    expect(responses.at(-1)).toMatchObject({ finish, ...(error !== undefined && { error }) });
  });

  test("Banyan refuses unknown requests of the agent, and ignores unknown updates and lines that are no message", async () => {
    const { text } = await play("files\nodd\nbabble", { model: new SampleFolders().sample() });
    expect(text).toBe("refused: -32601went onheard");
  });
});

describe("our rules and our user decide about calls for which an agent asks permission", () => {
  test('the user sees the proposed change, and "yes" allows one call', async () => {
    const place = new SampleFolders({ "a.txt": "old" });
    let seen: unknown;
    const person = (question: { readonly question: string }, session: Session) => {
      seen = session.state.questions.get(question.question);
      expect(place.read("a.txt")).toBe("old");
      return allow();
    };
    const { calls, text } = await play("edit a.txt new", { model: place.sample(), person });
    expect(seen).toMatchObject({ type: "approval", preview: { changes: [{ path: "a.txt", added: 1, removed: 1 }] } });
    expect(calls).toMatchObject([{ tool: "sample_edit", status: "completed", approved: true }]);
    expect(text).toBe("told: yes");
    expect(place.read("a.txt")).toBe("new");
  });

  test("if the user says no, the agent is told no and the call is denied", async () => {
    const place = new SampleFolders({ "a.txt": "old" });
    const { calls, text } = await play("edit a.txt new", { model: place.sample(), person: deny });
    expect(calls).toMatchObject([{ status: "denied", approved: false }]);
    expect([text, place.read("a.txt")]).toEqual(["told: no", "old"]);
  });

  test("permission rules get the command, and decide before the user is asked", async () => {
    const seen: unknown[] = [];
    const permission: Agent["options"]["permission"] = ({ tool, input }) => {
      seen.push([tool.name, tool.offeredBy, tool.about?.(input)]);
      return JSON.stringify(input).includes("rm") ? { decision: "deny", reason: "not that" } : { decision: "allow" };
    };
    const { calls, text } = await play("run ls\nrun rm", { model: new SampleFolders().sample(), permission });
    expect(seen).toEqual([
      ["sample_execute", "sample", { command: "ls" }],
      ["sample_execute", "sample", { command: "rm" }],
    ]);
    expect(calls.map(({ status, output }) => [status, output])).toEqual([
      ["completed", "ran ls"],
      ["denied", "Not allowed: not that"],
    ]);
    expect(text).toContain("told: yes");
    expect(text).toContain("told: no");
  });

  test("Banyan denies a call that needs a question if there is no user", async () => {
    const { calls, text } = await play("run ls", { model: new SampleFolders().sample() });
    expect(calls).toMatchObject([{ status: "denied" }]);
    expect(text).toBe("told: no");
  });

  test("S43: Banyan chooses the agent's option that matches the decision, and never an option that outlasts the call", async () => {
    const offered = [
      ["allow_once,allow_always,reject_once", "allow", "allow_once-0"],
      ["allow_always,reject_once", "allow", "reject_once-1"],
      ["reject_always,allow_once", "deny", "cancelled"],
      ["reject_always,reject_once", "deny", "reject_once-1"],
      ["allow_once", "deny", "cancelled"],
      ["reject_once", "allow", "reject_once-0"],
    ];
    const notes: unknown[] = [];
    const person: Person = ({ question }, session) => {
      const asked = session.state.questions.get(question);
      if (asked?.type !== "approval") return undefined;
      notes.push(...(asked.preview?.notes ?? []));
      const message = session.state.messages.get(asked.message);
      const call = message?.role === "assistant" ? message.calls.find(({ id }) => id === asked.call) : undefined;
      return { decision: call?.about?.title === "allow" ? "allow" : "deny" };
    };
    const acts = offered.map(([kinds, decision]) => `options ${kinds} ${decision}`).join("\n");
    const { text, calls } = await play(acts, { model: new SampleFolders().sample(), person });
    expect(calls[1]).toMatchObject({
      status: "failed",
      output: expect.stringContaining(
        'The agent offers only "always allow" for this call. Banyan allows calls one at a time',
      ),
    });
    expect(calls[5]?.output).toContain("The agent offers no way to allow this call, so the call was denied.");
    expect(text.replaceAll("\n", "")).toBe(offered.map(([, , told]) => `told: ${told}; `).join(""));
    expect(notes).toEqual([
      'The agent offers only "always allow" for this call. Banyan denies the call, whatever you answer.',
    ]);
  });

  test("the user chooses if the agent offers several ways to allow a call", async () => {
    const person = (question: { readonly type: string }): Answer =>
      question.type === "question.asked" ? { decision: "answer", text: "allow_once 2" } : allow();
    const { text } = await play("options allow_once,allow_always,allow_once", {
      model: new SampleFolders().sample(),
      person,
    });
    expect(text).toBe("told: allow_once-2; ");
  });

  test("S15: Banyan denies a call whose arguments the user changed, because the agent cannot take them", async () => {
    const person = (): Answer => ({ decision: "allow", input: { command: "ls -la" } });
    const { calls, text } = await play("run ls", { model: new SampleFolders().sample(), person });
    expect(calls[0]?.status).toBe("failed");
    expect(calls[0]?.output).toContain("cannot run a call with changed arguments");
    expect(text).toBe("told: no");
  });

  test("a call about which the agent asks twice becomes two calls with a result each", async () => {
    const { calls, text } = await play("twice", { model: new SampleFolders().sample(), person: allow });
    expect(calls.map(({ about, output }) => [about?.command, output])).toEqual([
      ["ls", "listed"],
      ["ls -a", "Allowed."],
    ]);
    expect(text).toContain("told: yes, yes");
  });

  test("a question that the agent withdraws disappears, and its call is cancelled", async () => {
    const { calls, session, text } = await play("takeBack", {
      model: new SampleFolders().sample(),
      person: () => undefined,
    });
    expect(calls[0]?.status).toBe("cancelled");
    expect(session.state.questions.size).toBe(0);
    expect(text).toBe("told: cancelled");
  });

  test("the user answers a text question of the agent, and sees which agent asks", async () => {
    const asked: string[] = [];
    const person = (question: { readonly type: string; readonly text?: string }): Answer => {
      asked.push(question.text ?? "");
      return { decision: "answer", text: asked.length === 1 ? "answer" : "Berlin" };
    };
    const permission = ({ tool }: { readonly tool: { readonly control?: boolean | undefined } }) =>
      ({ decision: tool.control ? "allow" : "ask" }) as const;
    const { text } = await play("ask", { model: new SampleFolders().sample(), permission, person });
    expect(asked[0]).toContain('The agent "sample" asks: Where shall it go?');
    expect(text).toBe('told: {"action":"accept","content":{"where":"Berlin"}}');
    const nobody = await play("ask", {
      model: new SampleFolders().sample(),
      permission: () => ({ decision: "allow" }),
    });
    expect(nobody.text).toBe('told: {"action":"cancel"}');
  });
});

describe("an agent that misbehaves fails its turn with one sentence, and the conversation continues", () => {
  const patience = { start: 3_000, work: 400 };
  const bad: readonly (readonly [string, string, Readonly<Record<string, string>>, RegExp])[] = [
    [
      "dies in the middle",
      "die",
      {},
      /^The agent "sample" exited before it finished \(exit code 3; its last words: segmentation fault\)\.$/,
    ],
    [
      "speaks another version",
      "",
      { SAMPLE_VERSION: "2" },
      /^The agent "sample" uses version 2 of the Agent Client Protocol\. Install an agent that uses version 1\.$/,
    ],
    ["never answers", "deaf", {}, /^The agent "sample" sent nothing for 0.4 seconds\.$/],
    ["refuses", "fail", {}, /^The agent "sample" reported an error: .*the disk is full/],
    [
      "ends for a reason of tomorrow (F105)",
      "ends of_tomorrow",
      {},
      /^The agent "sample" ended its turn with the reason "of_tomorrow", which Banyan does not know\.$/,
    ],
    ["cancels by itself (F105)", "ends cancelled", {}, /^The agent "sample" cancelled its turn by itself\.$/],
  ];
  const worse: typeof bad = [
    ["never gets ready", "", { SAMPLE_SILENT: "1" }, /^The agent "sample" sent nothing at its start for 3 seconds\.$/],
    ["writes a line without an end", "line 40", {}, /^The agent "sample" .*it wrote a line of more than 32 MiB/],
    [
      "says 100 MB",
      "flood 100",
      {},
      /^An answer of the model exceeded 67,108,864 characters, so Banyan cut off the rest\.$/,
    ],
    [
      "wants somebody to sign in",
      "signIn",
      {},
      /^The agent "sample" is not signed in\. Sign in by one of these ways: Log in \(run `sample login`\)\. Then send your message again\.$/,
    ],
  ];
  test.each(LONG ? [...bad, ...worse] : bad)("an agent that %s", async (_, act, env, sentence) => {
    const model = new SampleFolders().sample("", env, act === "deaf" || env.SAMPLE_SILENT ? { patience } : {});
    const { reason, problem, text, session } = await play(`say Begun\n${act}`, { model });
    expect(reason).toBe("failed");
    expect(problem).toMatch(sentence);
    if (act !== "") expect(text).toMatch(/^Begun/);
    expect((await play("Again", { model: scriptedModel(["Again."]), session })).text).toContain("Again.");
  });

  test("the error for a missing agent names the install command", async () => {
    const model = acpAgent({
      name: "ghost",
      command: "no-such-agent-acp",
      install: "npm install --global no-such-agent-acp",
    });
    const { problem } = await play("say x", { model });
    expect(problem).toBe(
      'The agent "ghost" cannot be used: the program "no-such-agent-acp" was not found. To install it: npm install --global no-such-agent-acp',
    );
    await expect(new Agent({ model }).send("x")).rejects.toMatchObject({ code: "unreachable" });
    expect(() => acpAgent({ name: "a b", command: "x" })).toThrow(TypeError);
  });
});

describe("no process outlives its turn", () => {
  test.runIf(LONG)(
    "a child in a session of its own that ends at no signal but the last is gone when the turn is over",
    async () => {
      const { text } = await play("child", { model: new SampleFolders().sample("", { SAMPLE_STUBBORN: "1" }) });
      const id = Number(text);
      expect(id).toBeGreaterThan(1);
      expect(isThere(id)).toBe(false);
    },
  );

  test.each(LONG ? ["hang", "deaf"] : ["hang"])(
    "B22: an interrupt soon ends an agent that is in %s, and its partial text is kept",
    async (act) => {
      const model = new SampleFolders().sample();
      const session = Session.inMemory();
      const feed = new Agent({ model }).chat(say(`child\n${act}`), { session })[Symbol.asyncIterator]();
      const told = await readUntil(feed, (item) => item.type === "text.delta");
      const id = Number(told.type === "text.delta" ? told.text : 0);
      await readUntil(feed, (item) => item.type === "text.delta");
      session.interrupt();
      expect(await readUntil(feed, (item) => item.type === "chat.ended")).toMatchObject({ reason: "interrupted" });
      await expect.poll(() => isThere(id)).toBe(false);
      const response = [...session.state.messages.values()].at(-1);
      expect(response).toMatchObject({ finish: "interrupted" });
    },
  );

  test("an interrupt during a question to the user cancels the agent's call", async () => {
    const model = new SampleFolders().sample();
    const session = Session.inMemory();
    const agent = new Agent({ model, permission: () => ({ decision: "ask" }) });
    const feed = agent.chat(say("run ls"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.approval-requested");
    session.interrupt();
    await readUntil(feed, (item) => item.type === "chat.ended");
    const calls = [...session.state.messages.values()].flatMap((message) =>
      message.role === "assistant" ? message.calls : [],
    );
    expect(calls).toMatchObject([{ status: "cancelled" }]);
    expect(session.state.questions.size).toBe(0);
  });
});

/** Returns true if a process runs. A zombie has ended, but its parent has not read its exit code. */
function isThere(id: number): boolean {
  const look = spawnSync("ps", ["-o", "stat=", "-p", String(id)], { encoding: "utf8" });
  return look.status === 0 && !look.stdout.trim().startsWith("Z");
}
