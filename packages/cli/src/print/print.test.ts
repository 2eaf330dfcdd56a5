import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { GIVEN_UP, GIVEN_UP_TOO } from "@banyan/client/display";
import { emptyConversation } from "@banyan/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { turnReport } from "../output/report.ts";
import { resultSchema } from "../output/schema.ts";
import { styleFor } from "../show/style.ts";
import { banyan, ended, type Home, home, linesOf, MAIN, start } from "../testing/banyan.ts";
import { hasEnded, lasting } from "../testing/lasting.ts";
import { modelServer, type ServerAnswer, shell } from "../testing/model-server.ts";
import { ProgressLines } from "./progress.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;

beforeEach(() => {
  place = home();
});

afterEach(() => place[Symbol.dispose]());

describe("the answer", () => {
  test("C1: is the one behind which a hook lets the agent stop", async () => {
    const stop = 'grep -q "stop_hook_active\\":true" || { echo "run the tests first" >&2; exit 2; }';
    const settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
    mkdirSync(dirname(settings), { recursive: true });
    writeFileSync(settings, JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "command", command: stop }] }] } }));
    await using server = await modelServer({ text: "Done." }, { text: "Done, and tested." });
    const run = await banyan(place, ["-p", "mend it", ...MODEL], server);
    expect(run).toMatchObject({ code: 0, stdout: "Done, and tested.\n" });
    expect(server.asked[1]?.at(-1)?.content).toBe("run the tests first");
  });

  describe("F100: turns that a Stop hook adds belong to the run that the user started", () => {
    const hooked = () => {
      const settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
      mkdirSync(dirname(settings), { recursive: true });
      const stop = { type: "command", command: "echo not yet >&2; exit 2" };
      writeFileSync(settings, JSON.stringify({ hooks: { Stop: [{ hooks: [stop] }] } }));
    };
    const priced = ["--model", "openai-chat/gpt-4o", "--output", "json"];
    // 10 cents per request: gpt-4o costs $2.50 per million input tokens.
    const dear: ServerAnswer = { text: "Done.", tokens: [40_000, 0] };
    const finish: ServerAnswer = {
      calls: [{ tool: "finish_task", input: { result: "Done.", summary: "" } }],
      tokens: [40_000, 0],
    };
    const go = async (answer: ServerAnswer, args: readonly string[]) => {
      hooked();
      await using server = await modelServer(answer);
      const { code, stdout } = await banyan(place, [...args, ...priced], {
        env: { ...server.env, OPENAI_API_KEY: "test" },
      });
      return { code, asked: server.asked.length, result: JSON.parse(stdout) };
    };

    test.each([
      ["-p", dear, "answered"],
      ["run", finish, "finished"],
    ] as const)("%s reports the cost, tokens and steps of all of them", async (how, answer, reason) => {
      const { code, asked, result } = await go(answer, [how, "mend it"]);
      expect({ code, asked }).toEqual({ code: 0, asked: 6 });
      expect(result).toMatchObject({ reason, text: "Done.", steps: 6, usage: { input: 240_000 } });
      expect(result.cost).toBeCloseTo(0.6, 6);
    });

    test.each([
      ["-p", dear],
      ["run", finish],
    ] as const)("%s holds --max-cost over them, and exits with 3", async (how, answer) => {
      const { code, asked, result } = await go(answer, [how, "mend it", "--max-cost", "0.35"]);
      expect(code).toBe(3);
      expect(asked).toBeLessThanOrEqual(3);
      expect(result).toMatchObject({ reason: "limit", error: { message: "The turn reached the limit of $0.35." } });
      expect(result.cost).toBeLessThanOrEqual(0.35);
    });

    test.each([
      ["-p", dear],
      ["run", finish],
    ] as const)("%s holds --max-steps over them, and exits with 3", async (how, answer) => {
      const { code, asked, result } = await go(answer, [how, "mend it", "--max-steps", "2"]);
      // The third request is for the final text, which is not a step.
      expect({ code, asked }).toEqual({ code: 3, asked: 3 });
      expect(result).toMatchObject({ reason: "limit", steps: 2, usage: { input: 120_000 } });
    });

    test("a failed turn is the result, with the usage of all turns", async () => {
      hooked();
      await using server = await modelServer({ text: "Done." }, { status: 400 });
      const { code, stdout } = await banyan(place, ["-p", "mend it", ...MODEL, "--output", "json"], server);
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ reason: "failed", exitCode: 1, usage: { input: 10 } });
    });
  });

  describe("F104: a hook", () => {
    const hooked = (event: string, command: string, more: object = {}) => {
      const settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
      mkdirSync(dirname(settings), { recursive: true });
      const hooks = { [event]: [{ hooks: [{ type: "command", command }] }] };
      writeFileSync(settings, JSON.stringify({ hooks, ...more }));
    };
    const allow = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`;
    const makes = async (...args: string[]) => {
      await using server = await modelServer(shell("touch made.txt"), { text: "Made." });
      const { code, stderr } = await banyan(place, ["-p", "make it", ...args, ...MODEL], server);
      return { code, stderr, isMade: existsSync(join(place.workspace, "made.txt")) };
    };

    test("a PreToolUse hook allows a call although no user can be asked", async () => {
      expect(await makes("--unconfined")).toMatchObject({ code: 4, isMade: false });
      hooked("PreToolUse", allow);
      expect(await makes("--unconfined")).toMatchObject({ code: 0, isMade: true });
    });

    test.each([
      [["--deny", "shell"], {}, "The rule 'shell' forbids this call."],
      [
        [],
        { permissions: { ask: ["shell(touch:*)"] } },
        "This call needs a user's approval, and no user can be asked here.",
      ],
    ] as const)("of PreToolUse allows nothing that a rule holds back: %j %j", async (args, settings, why) => {
      hooked("PreToolUse", allow, settings);
      const { stderr, ...made } = await makes("--unconfined", ...args);
      expect(made).toEqual({ code: 4, isMade: false });
      expect(stderr).toContain(why);
    });

    test("leaves a process in the background, which ends with the program", async () => {
      const command = lasting();
      hooked("UserPromptSubmit", `(${command}) & echo 'It is Friday.'`);
      await using server = await modelServer({ text: "Done." });
      expect(await banyan(place, ["-p", "go", ...MODEL], server)).toMatchObject({ code: 0, stdout: "Done.\n" });
      expect(JSON.stringify(server.asked[0])).toContain("It is Friday.");
      await hasEnded(command);
    });

    test("stderr names a failed hook and the reason once", async () => {
      hooked("UserPromptSubmit", "echo broken >&2; exit 1");
      await using server = await modelServer({ text: "Done." });
      const { code, stderr } = await banyan(place, ["-p", "go", ...MODEL], server);
      expect(code).toBe(0);
      expect(stderr).toContain("The UserPromptSubmit hook echo broken >&2; exit 1 failed with exit code 1: broken.\n");
      expect(stderr.split("broken")).toHaveLength(3);
    });
  });

  test("T32: goes to stdout alone, and what happens on the way to stderr", async () => {
    writeFileSync(join(place.workspace, "a.txt"), "hello\n");
    await using server = await modelServer(
      { calls: [{ tool: "read", input: { path: "a.txt" } }] },
      { text: "It says hello." },
    );
    const run = await banyan(place, ["-p", "what is in a.txt?", ...MODEL], server);
    expect(run).toMatchObject({ code: 0, stdout: "It says hello.\n" });
    expect(run.stderr).toMatch(/• read {2}a\.txt … done/);
    expect(server.asked).toHaveLength(2);
  });

  test("C6: background commands that run after the turn are named and stopped", async () => {
    const command = lasting();
    await using server = await modelServer(
      { calls: [{ tool: "shell", input: { command: `echo up; ${command}`, background: true } }] },
      { text: "It runs." },
    );
    const run = await banyan(place, ["-p", "start it", "--approval", "all", "--unconfined", ...MODEL], server);
    expect(run).toMatchObject({ code: 0, stdout: "It runs.\n" });
    expect(run.stderr).toContain(`Running in the background (p1): echo up; ${command}`);
    expect(run.stderr).toContain(`Ending the background command p1, which is still running: echo up; ${command}`);
    await hasEnded(command);
  });

  test("T32: streams to a user at a terminal", () => {
    let written = "";
    const report = turnReport("text", (text) => (written += text), { live: true });
    const state = emptyConversation();
    const delta = { message: "m", part: 0, run: "r", agent: "banyan", depth: 0, seq: 1, epoch: 1, offset: 1 };
    report.item({ type: "text.delta", text: "The beginning", ...delta }, state);
    expect(written).toBe("The beginning");
  });

  test.each([
    ["where it was seen, a person is told, at length once", "nothing", `${GIVEN_UP}\n${GIVEN_UP_TOO}`],
    ["where it was not, nobody is", "whole", ""],
  ] as const)("a discarded answer appears once as discarded: %s", (_name, said, told) => {
    let written = "";
    const progress = new ProgressLines((text) => (written += text), styleFor(process.stdout, "never"), 80, { said });
    const placed = { message: "m", run: "r", agent: "banyan", depth: 0, seq: 1, epoch: 1 };
    const delta = { ...placed, type: "text.delta", part: 0, text: "Half an", begins: 0, offset: 1 } as const;
    const abandoned = { ...placed, type: "message.abandoned", reason: "cut", at: 1 } as const;
    for (const item of [delta, abandoned, delta, abandoned]) progress.item(item, emptyConversation());
    expect(written.trim()).toBe(told);
  });

  test("B80: stands on stdout alone; what was said between calls is on stderr, or nowhere with --quiet", async () => {
    writeFileSync(join(place.workspace, "a.txt"), "hello\n");
    const answers = [
      { text: "I look into it.\nIt may take a while.", calls: [{ tool: "read", input: { path: "a.txt" } }] },
      { text: "It says hello." },
    ];
    await using server = await modelServer(...answers, ...answers);
    const run = await banyan(place, ["-p", "what is in a.txt?", ...MODEL], server);
    expect(run).toMatchObject({ code: 0, stdout: "It says hello.\n" });
    expect(run.stderr).toMatch(/^I look into it\.\nIt may take a while\.\n.*read {2}a\.txt … done/m);
    const quiet = await banyan(place, ["-p", "what is in a.txt?", "--quiet", ...MODEL], server);
    expect(quiet).toMatchObject({ code: 0, stdout: "It says hello.\n", stderr: "" });
  });

  test("C9: comes from another model if the first fails, as stderr says", async () => {
    const settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
    mkdirSync(dirname(settings), { recursive: true });
    writeFileSync(settings, JSON.stringify({ fallbacks: ["openai-compatible/spare"] }));
    await using server = await modelServer({ status: 529 }, { text: "Here I am." });
    const { code, stdout, stderr } = await banyan(place, ["-p", "hi", "--attempts", "1", ...MODEL], server);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Here I am.\n" });
    expect(stderr).toContain("openai-compatible/spare continues this turn instead of openai-compatible/test.");
  });

  test("S12: holds no terminal control sequences", async () => {
    await using server = await modelServer({
      text: ["red: \x1b[3", "1mred\x1b[0m, title: \x1b]0;ow", "ned\x07, bell: \x07."],
    });
    const { stdout } = await banyan(place, ["-p", "colours", ...MODEL], server);
    expect(stdout).toBe("red: red, title: , bell: .\n");
  });

  test("B65: is the offline demo's, and says so, when there is neither a key nor a server", async () => {
    const { code, stderr } = await banyan(place, ["-p", "what can you do?"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Using demo\/offline, a demo without a language model, because no key is set/);
  });
});

describe("the output format", () => {
  test("T33: json is one result", async () => {
    await using server = await modelServer({ text: "Yes." });
    const { stdout } = await banyan(place, ["-p", "well?", "--output", "json", ...MODEL], server);
    const result = resultSchema.strict().parse(JSON.parse(stdout));
    expect(result).toMatchObject({ reason: "answered", exitCode: 0, text: "Yes.", steps: 1, error: null, cost: null });
    expect(result.usage).toMatchObject({ input: 10, output: 5 });
  });

  test("V5: json has the cause and the tokens of each cache miss", async () => {
    writeFileSync(join(place.workspace, "a.txt"), "hello\n");
    await using server = await modelServer(
      { calls: [{ tool: "read", input: { path: "a.txt" } }], tokens: [9_000, 5, 8_500] },
      { text: "Yes.", tokens: [9_500, 5, 0] },
    );
    const { stdout } = await banyan(place, ["-p", "well?", "--output", "json", ...MODEL], server);
    const { cacheMisses } = resultSchema.strict().parse(JSON.parse(stdout));
    expect(cacheMisses).toEqual([{ cause: "provider", tokens: 9_000 }]);
  });

  test("T33: every line of jsonl fits the schema and has the next number, and the last one is the result", async () => {
    writeFileSync(join(place.workspace, "a.txt"), "hello\n");
    await using server = await modelServer(
      {
        reasoning: "hm",
        text: "I look.",
        calls: [
          { tool: "read", input: { path: "a.txt" } },
          { tool: "shell", input: { command: "true" } },
        ],
      },
      { text: ["It says ", "hello."] },
    );
    const { stdout, code } = await banyan(place, ["-p", "what is in a.txt?", "--output", "jsonl", ...MODEL], server);
    const lines = linesOf(stdout);
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
    expect(lines.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        "run.started",
        "reasoning.delta",
        "text.delta",
        "call.completed",
        "call.denied",
        "run.ended",
      ]),
    );
    expect(lines.at(-1)).toMatchObject({ type: "result", reason: "denied", exitCode: 4, text: "It says hello." });
    expect(code).toBe(4);
  });

  test.each([
    { name: "an unknown model", args: ["-p", "hi", "--model", "nobody/nothing"], exitCode: 2 },
    { name: "an option that does not exist", args: ["-p", "hi", "--modle", "x"], exitCode: 2 },
    { name: "a missing key", args: ["-p", "hi", "--model", "anthropic/claude-sonnet-5"], exitCode: 5 },
  ])("T33: the last line is a result after $name too", async ({ args, exitCode }) => {
    const { stdout, code } = await banyan(place, [...args, "--output", "jsonl"]);
    expect(linesOf(stdout).at(-1)).toMatchObject({ type: "result", exitCode });
    expect(code).toBe(exitCode);
  });
});

describe("standard input", () => {
  test("T34: is the prompt when there is no other", async () => {
    await using server = await modelServer({ text: "Yes." });
    const { stdout } = await banyan(place, MODEL, { ...server, input: "is it?" });
    expect(stdout).toBe("Yes.\n");
    expect(JSON.stringify(server.asked)).toContain("is it?");
  });

  test("T34: is context for a prompt argument; and with all tools a first request has at most 12 kB", async () => {
    await using server = await modelServer({ text: "Yes." });
    await banyan(place, ["-p", "review this", "--memory", ...MODEL], { ...server, input: "- old\n+ new\n" });
    expect(server.sizes[0]).toBeLessThan(12_000);
    expect(JSON.stringify(server.asked[0])).toContain("review this\\n\\nStandard input:\\n\\n- old\\n+ new");
  });

  test("T34: with a prompt, a silent input is not awaited", async () => {
    await using server = await modelServer({ text: "Yes." });
    const running = start(place, ["-p", "well?", ...MODEL], server);
    expect(await ended(running)).toMatchObject({
      code: 0,
      stdout: "Yes.\n",
      stderr: expect.stringContaining("Continuing without it"),
    });
  });

  test("T34: an input of 100 MB is refused with a sentence, and not kept in memory", async () => {
    const command = `head -c 100000000 /dev/zero | tr '\\0' a | "${process.execPath}" --max-old-space-size=60 "${MAIN}" -p`;
    const running = spawn("bash", ["-c", command], {
      cwd: place.workspace,
      env: place.env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { code, stderr } = await ended(running);
    expect(code).toBe(2);
    expect(stderr).toBe(
      "banyan: Standard input is longer than 10 MB. Send a part of it, or name the file in the prompt.\n",
    );
  });

  test("T34: a binary input is refused with the reason", async () => {
    const { code, stderr, stdout } = await banyan(place, ["-p", "explain"], {
      input: Buffer.from([0x7f, 0x45, 0x00, 0x01]),
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^banyan: Standard input is not text: it has null bytes\..*\n$/);
  });

  test("T34: an empty input sends no request", async () => {
    await using server = await modelServer({ text: "Yes." });
    const { code, stderr } = await banyan(place, ["-p", ...MODEL], { ...server, input: " \n" });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^banyan: There is no prompt to answer/);
    expect(server.asked).toHaveLength(0);
  });
});
