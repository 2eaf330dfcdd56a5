import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, home } from "../testing/banyan.ts";
import { links } from "../testing/links.ts";
import { modelServer, type ServerAnswer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

/** A call that runs until `release`. */
const WAITS: ServerAnswer = {
  calls: [{ tool: "shell", input: { command: "touch running; until [ -e released ]; do sleep 0.05; done" } }],
};

const ALLOWED = ["--allow", "shell", ...MODEL];

interface Served {
  readonly env: Readonly<Record<string, string>>;
}

function chat(server: Served, ...args: string[]): Pty {
  return Pty.open(place, [...ALLOWED, ...args], server.env);
}

/** Begins a turn, and waits until its call runs. */
async function busy(pty: Pty): Promise<void> {
  await pty.prompted();
  pty.enter("go");
  while (!existsSync(join(place.workspace, "running"))) await sleep(50);
  await pty.until(/• shell .* …/);
}

function release(): void {
  writeFileSync(join(place.workspace, "released"), "");
}

/** Waits until a log contains a text: streamed text is logged only now and then. */
async function inLog(text: string): Promise<void> {
  const logs = join(place.env.BANYAN_HOME ?? "", "data", "conversations");
  while (!readdirSync(logs).some((name) => readFileSync(join(logs, name), "latin1").includes(text))) await sleep(50);
}

type Asked = readonly (readonly { role: string; content: unknown }[])[];

function saidIn(asked: Asked, request: number): unknown[] {
  return (asked[request] ?? []).filter(({ role }) => role === "user").map(({ content }) => content);
}

describe.skipIf(!hasTmux).each(links)("typing while the agent works ($link)", ({ open }) => {
  const chat = (server: Served, ...args: string[]) => open(place, [...ALLOWED, ...args], server.env);

  test("B21: a message after Esc is the next request, and queued messages are kept", async () => {
    await using server = await modelServer(WAITS, { text: "First." }, { text: "Second." });
    using pty = await chat(server);
    await busy(pty);
    pty.type("later, please");
    pty.press("M-Enter");
    await pty.until("queued: later, please");
    pty.press("Escape");
    await pty.prompted();
    const asked = () => server.asked.slice(1).map((messages) => JSON.stringify(messages.at(-1)?.content));
    pty.enter("do that instead");
    await pty.until("First.");
    for (let waited = 0; waited < 100 && !`${asked()} ${pty.screen()}`.includes("later, please"); waited++)
      await sleep(50);
    expect(asked().join(" ")).toContain("do that instead");
    expect(`${JSON.stringify(server.asked)} ${pty.screen()}`).toContain("later, please");
  });

  test("B21, T18: with Enter steers: it is in the next model call of the same turn, and shown as delivered then", async () => {
    await using server = await modelServer(WAITS, { text: "Turned left." });
    using pty = await chat(server);
    await busy(pty);
    pty.enter("go left");
    expect(await pty.until("steer: go left")).not.toContain("❯ go left");
    release();
    const screen = await pty.until("Turned left.");
    expect(screen).toMatch(/❯ go left\n[\s\S]*Turned left\./);
    expect(screen).not.toContain("steer:");
    expect(saidIn(server.asked, 1)).toEqual(["go", "go left"]);
  });

  test("B21, T18: with Alt+Enter, or with > in front, is said after the turn, in order", async () => {
    await using server = await modelServer(WAITS, { text: "First." }, { text: "Second." });
    using pty = await chat(server);
    await busy(pty);
    pty.type("then this");
    pty.press("M-Enter");
    await pty.until("queued: then this");
    pty.enter("> and that");
    await pty.until("queued: and that");
    release();
    const screen = await pty.until("Second.");
    expect(screen).toMatch(/First\.\n(?:.*2 files changed\n)?\n*❯ then this\n+❯ and that\n+Second\./);
    expect(saidIn(server.asked, 1)).toEqual(["go"]);
    expect(saidIn(server.asked, 2)).toEqual(["go", "then this", "and that"]);
  });

  test("B21: while the last answer streams is the next turn, without a question in between", async () => {
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await using server = await modelServer({ text: ["It ", "takes ", "time."], held }, { text: "Next." });
    using pty = await chat(server);
    await pty.prompted();
    pty.enter("go");
    await pty.until(/^It *$/);
    pty.enter("and then?");
    await pty.until("steer: and then?");
    goOn();
    await pty.until("Next.");
    expect(saidIn(server.asked, 1)).toEqual(["go", "and then?"]);
    expect(await pty.prompted()).toMatch(/It takes time\.\n+❯ and then\?\n+Next\./);
  });

  test("T18: /waiting lists, edits, moves and takes back messages", async () => {
    await using server = await modelServer(WAITS, { text: "First." }, { text: "Second." });
    using pty = await chat(server);
    await busy(pty);
    for (const [index, text] of ["one", "two", "three"].entries()) {
      pty.enter(`> ${text}`);
      await pty.until(/^queued: /, index + 1);
    }
    pty.enter("/waiting drop 2");
    await pty.until("is withdrawn.");
    pty.enter("/waiting edit 2 drei");
    await pty.until("queued: drei");
    pty.enter("/waiting first 2");
    expect(await pty.until(/^ {2}2 {2}queued {2}one$/)).toMatch(/^ {2}1 {2}queued {2}drei$/m);
    pty.enter("/waiting drop 7");
    await pty.until("Give the number of a message, as in /waiting drop 1.");
    release();
    await pty.until("Second.");
    expect(saidIn(server.asked, 2)).toEqual(["go", "drei", "one"]);
    await pty.prompted();
    pty.enter("/waiting");
    await pty.until("No message waits.");
  });

  test("T18, T53: Alt+Up takes back one after the other, and each goes on waiting as it did when it is sent", async () => {
    await using server = await modelServer(WAITS, { text: "First." }, { text: "Second." });
    using pty = await chat(server);
    await busy(pty);
    for (const [text, shown] of [
      ["go left", "steer: go left"],
      ["> one", "queued: one"],
      ["> two", "queued: two"],
    ] as const) {
      pty.enter(text);
      await pty.until(shown);
    }
    pty.press("M-Up");
    expect(await pty.until(/ Editing a queued message. Enter puts it back into the queue ─\ntwo$/)).toMatch(
      /^queued: one/m,
    );
    pty.press("M-Up");
    await pty.until(/ Editing a queued message. Enter puts it back into the queue, 1 behind it ─\none$/);
    pty.press("M-Up");
    await pty.until(/ Editing a message for this turn. Enter sends it now, 2 behind it ─\ngo left$/);
    pty.type(", now");
    pty.press("Enter");
    expect(await pty.until(/^steer: go left, now/)).toMatch(/\none$/m);
    pty.press("Enter");
    await pty.until(/^queued: one/);
    // An emptied message is given up.
    pty.press("C-u");
    pty.press("Enter");
    release();
    await pty.until("Second.");
    expect(saidIn(server.asked, 1)).toEqual(["go", "go left, now"]);
    expect(saidIn(server.asked, 2)).toEqual(["go", "go left, now", "one"]);
  });

  test("a command that needs the agent waits for the prompt", async () => {
    await using server = await modelServer(WAITS, { text: "First." }, { text: "Second." });
    using pty = await chat(server);
    await busy(pty);
    pty.enter("/retry");
    await pty.until("next: /retry");
    release();
    // The command of the turn made two files.
    await pty.asked("What should happen to these files?");
    pty.press("k", "Enter");
    await pty.until("Second.");
    expect(saidIn(server.asked, 2)).toEqual(["go"]);
  });

  test("B21: after a stop is held until it is sent", async () => {
    await using server = await modelServer(WAITS, { text: "Something else." }, { text: "Thank you." });
    using pty = await chat(server);
    await busy(pty);
    pty.enter("> later");
    await pty.until("queued: later");
    pty.press("C-c");
    await pty.until("Stopped. Your turn.");
    await pty.until("1 message held back. /waiting lists them, /waiting send sends them.");
    await pty.prompted();
    await pty.exchange("/waiting", /^ {2}1 {2}held {2}later$/);
    pty.enter("first this");
    await pty.until("Something else.");
    expect(saidIn(server.asked, 1)).toEqual(["go", "first this"]);
    await pty.prompted();
    pty.enter("/waiting send");
    await pty.until("Thank you.");
    expect(saidIn(server.asked, 2)).toEqual(["go", "first this", "later"]);
  });

  test("T39: in plain lines works the same", async () => {
    await using server = await modelServer(WAITS, { text: "First." }, { text: "Second." });
    using pty = await chat(server, "--plain");
    await busy(pty);
    pty.enter("go left");
    await pty.until(/^steer: go left$/);
    pty.enter("> and later this");
    await pty.until(/^queued: and later this$/);
    release();
    await pty.until("Second.");
    expect(saidIn(server.asked, 1)).toEqual(["go", "go left"]);
    expect(saidIn(server.asked, 2)).toEqual(["go", "go left", "and later this"]);
  });
});

describe.skipIf(!hasTmux)("after kill -9", () => {
  test("T19, B24: typed and waiting text is kept; no turn continues before the user's command", async () => {
    await using server = await modelServer({ text: "Once upon a time", stalls: true }, { text: "Here I am." });
    {
      using pty = chat(server);
      await pty.prompted();
      pty.enter("a story");
      await pty.until("Once upon a time");
      pty.enter("a short one");
      await pty.until("steer: a short one");
      pty.type("half a thought");
      await pty.until("half a thought");
      await inLog("Once upon a time");
      pty.kill("SIGKILL");
      await pty.until("[exit 137]");
    }
    using pty = chat(server, "--continue");
    // The unsent text is back in the prompt.
    const screen = await pty.until(/^─ Reply to banyan: ─+\nhalf a thought$/);
    pty.press("C-c");
    await pty.prompted();
    expect(screen).toMatch(
      /The agent was interrupted while it answered\.\n {4}Once upon a time\nheld: a short one\n\/resume continues the work\./,
    );
    pty.press("Enter");
    expect(server.asked).toHaveLength(1);
    pty.enter("/resume");
    await pty.until(/^❯ a short one\n+Here I am\./);
    expect(JSON.stringify(server.asked[1])).toContain("Once upon a time");
    expect(saidIn(server.asked, 1)).toEqual(["a story", "a short one"]);
    await pty.prompted();
    pty.enter("/resume");
    await pty.until(/^─ Conversations /);
  });

  test("B24: shows which call was interrupted; resuming starts no second one that may have had its effect", async () => {
    const command = "echo x >> started; sleep 3";
    await using server = await modelServer(shell(command), { text: "I see." });
    {
      using pty = chat(server);
      await pty.prompted();
      pty.enter("go");
      // The command's line appears before its process.
      while (!existsSync(join(place.workspace, "started"))) await sleep(50);
      await pty.until(/• shell .* …/);
      pty.kill("SIGKILL");
      await pty.until("[exit 137]");
    }
    using pty = chat(server, "--continue");
    const screen = await pty.prompted();
    expect(screen).toMatch(
      /The agent was interrupted while it worked\.\n• shell {2}echo x >> started; sleep 3 … was running\n/,
    );
    pty.enter("/resume");
    // The user already knows about the interruption.
    expect(await pty.until("I see.")).not.toContain("Stopped. Your turn.");
    expect(JSON.stringify(server.asked[1])).toContain("whether the call took effect is unknown");
    expect(readFileSync(join(place.workspace, "started"), "utf8")).toBe("x\n");
  });
});
