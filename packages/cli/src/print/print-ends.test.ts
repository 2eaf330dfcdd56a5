import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, ended, type Home, home, linesOf, MAIN, start } from "../testing/banyan.ts";
import { hasEnded, lasting } from "../testing/lasting.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;

beforeEach(() => {
  place = home();
});

afterEach(() => place[Symbol.dispose]());

describe("a limit", () => {
  const reading = { calls: [{ tool: "list", input: { path: "." } }] };

  test("T36: a limit of model calls stops the turn with an answer and 3", async () => {
    await using server = await modelServer(reading, reading, { text: "That is all I have." });
    const { code, stdout } = await banyan(
      place,
      ["-p", "dig", "--max-steps", "2", "--output", "json", ...MODEL],
      server,
    );
    expect(code).toBe(3);
    const { reason, text, steps, error } = JSON.parse(stdout);
    expect({ reason, text, steps }).toEqual({ reason: "limit", text: "That is all I have.", steps: 2 });
    expect(error.message).toBe("The turn reached the limit of 2 steps.");
  });

  test("T36: a time limit stops the turn with 3", async () => {
    await using server = await modelServer({ text: "Hm", stalls: true });
    const { code, stdout } = await banyan(
      place,
      ["-p", "dig", "--timeout", "600ms", "--output", "json", ...MODEL],
      server,
    );
    expect(code).toBe(3);
    expect(JSON.parse(stdout).error.message).toBe("The turn reached the limit of 0.6 s.");
  });

  test("T36: a cost limit stops the turn with 3", async () => {
    await using server = await modelServer(reading, { text: "That is all I have." });
    const priced = ["--model", "openai-chat/gpt-4o", "--max-cost", "0.0000001", "--output", "json"];
    const env = { ...server.env, OPENAI_API_KEY: "test" };
    const { code, stdout } = await banyan(place, ["-p", "dig", ...priced], { env });
    expect(code).toBe(3);
    const { error, cost } = JSON.parse(stdout);
    expect(error.message).toBe("The turn reached the limit of $0.0000001.");
    expect(cost).toBeGreaterThan(0);
  });

  test("B13: a cost limit is refused for a model of unknown price", async () => {
    await using server = await modelServer({ text: "Yes." });
    const { code, stderr } = await banyan(place, ["-p", "dig", "--max-cost", "1", ...MODEL], server);
    expect(code).toBe(2);
    expect(stderr).toContain(
      "banyan: A cost limit cannot be enforced: the price of openai-compatible/test is unknown.\n",
    );
    expect(server.asked).toHaveLength(0);
  });
});

describe("F105: an agent of another program", () => {
  const sample = join(import.meta.dirname, "../../../acp/src/testing/sample-agent.fixture.ts");
  const set = (more: object = {}) => {
    const settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
    mkdirSync(dirname(settings), { recursive: true });
    const acpAgents = { sample: { command: process.execPath, args: [sample] } };
    writeFileSync(settings, JSON.stringify({ acpAgents, ...more }));
  };

  test("is broken after the silence of --silence, or of connection.silence", async () => {
    set({ connection: { silence: 5 } });
    const sentence = (seconds: string) => `The agent "sample" sent nothing for ${seconds} seconds.`;
    const by = await banyan(place, ["-p", "deaf", "--silence", "4s", "-m", "acp/sample"]);
    expect(by).toMatchObject({ code: 1, stderr: expect.stringContaining(sentence("4")) });
    const set5 = await banyan(place, ["-p", "deaf", "-m", "acp/sample"]);
    expect(set5).toMatchObject({ code: 1, stderr: expect.stringContaining(sentence("5")) });
  });

  test("has what it changed without asking among the changes, and they can be taken back", async () => {
    set();
    writeFileSync(join(place.workspace, "a.txt"), "old\n");
    const run = `call ${JSON.stringify({ kind: "execute", rawInput: { command: "x" }, asks: false, does: "echo new > a.txt" })}`;
    expect(await banyan(place, ["-p", `${run}\nsay Done.`, "-m", "acp/sample"])).toMatchObject({ code: 0 });
    expect((await banyan(place, ["changes"])).stdout).toMatch(/1 file changed .*\n +changed +\+1 +-1 +a\.txt\n/);
    expect(await banyan(place, ["changes", "revert", "a.txt", "--yes"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("old\n");
  });

  test("an agent that ends for an unknown reason fails with this reason", async () => {
    set();
    const { code, stderr } = await banyan(place, ["-p", "ends of_tomorrow", "-m", "acp/sample"]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'The agent "sample" ended its turn with the reason "of_tomorrow", which Banyan does not know.',
    );
  });
});

describe("a signal", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)(
    "T35: %s in the middle of an answer ends with %i, the partial answer and a result",
    async (signal, expected) => {
      await using server = await modelServer({ text: "Once upon a time", stalls: true });
      const running = start(place, ["-p", "a story", "--output", "jsonl", ...MODEL], server);
      running.stdin.end();
      const run = ended(running);
      // Once only: a second signal would exit at once, and the text occurs in later items too.
      let isStopped = false;
      running.stdout.on("data", (text: string) => {
        if (!isStopped && text.includes("Once upon")) isStopped = running.kill(signal);
      });
      const { code, stdout } = await run;
      expect(code).toBe(expected);
      expect(linesOf(stdout).at(-1)).toMatchObject({
        type: "result",
        reason: "interrupted",
        exitCode: expected,
        text: "Once upon a time",
      });
    },
  );

  test("B22: ends a running command and all its children", async () => {
    const lasts = lasting();
    await using server = await modelServer(shell(`echo started; ${lasts} & ${lasts}`));
    const running = start(place, ["-p", "wait", "--allow", "shell", "--output", "jsonl", ...MODEL], server);
    running.stdin.end();
    const run = ended(running);
    let isStopped = false;
    running.stdout.on("data", (text: string) => {
      if (!isStopped && text.includes("started\\n")) isStopped = running.kill("SIGINT");
    });
    const { code, stdout } = await run;
    expect(code).toBe(130);
    expect(linesOf(stdout).map(({ type }) => type)).toContain("call.cancelled");
    await hasEnded(lasts);
  });
});

describe("a reader", () => {
  async function bash(command: string, env: Readonly<Record<string, string>>) {
    const running = spawn("bash", ["-o", "pipefail", "-c", command], {
      cwd: place.workspace,
      env: { ...place.env, ...env, NODE: process.execPath, MAIN },
      stdio: ["pipe", "pipe", "pipe"],
    });
    running.stdin.end();
    return ended(running);
  }

  test("T37: a reader that closes the pipe ends the command with 141, without a message", async () => {
    await using server = await modelServer({
      text: Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`).join(""),
    });
    const command = '"$NODE" "$MAIN" -p "count" --model openai-compatible/test < /dev/null | head -1';
    const { code, stdout, stderr } = await bash(command, server.env);
    expect({ code, stdout }).toEqual({ code: 141, stdout: "line 0\n" });
    expect(stderr).toBe("Model: openai-compatible/test (from the command line)\n");
  });

  test("T37: a slow reader gets the whole output", async () => {
    const length = 3_000_000;
    await using server = await modelServer({ text: "x".repeat(length) });
    const command = '"$NODE" "$MAIN" -p "much" --model openai-compatible/test < /dev/null | (sleep 1; wc -c)';
    expect(await bash(command, server.env)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^\\s*${length + 1}\\n$`)),
    });
  });
});

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell.
test.each(['echo "$GREETING you"', "echo ${GREETING:-hi} you"])(
  "a denied command with a variable names the reason and a rule, which lets the command run: %s",
  async (command) => {
    const answers = [{ calls: [{ tool: "shell", input: { command } }] }, { text: "So be it." }];
    await using server = await modelServer(...answers, ...answers);
    await banyan(place, ["-p", "greet", ...MODEL], server);
    const denied = String(server.asked[1]?.at(-1)?.content);
    const [, rule = ""] =
      /^Not allowed: .* no user can be asked here \(allow it with --allow '(.*)'\)\.$/.exec(denied) ?? [];
    expect(denied).toContain("(allow it with --allow 'shell(echo [harmless])')");
    await banyan(place, ["-p", "greet", "--allow", rule, ...MODEL], server);
    expect(String(server.asked[3]?.at(-1)?.content)).toContain("you");
  },
);

describe("a conversation", () => {
  test("goes on with --continue, with --resume and a part of its id or its title", async () => {
    await using server = await modelServer({ text: "Noted." });
    const first = await banyan(place, ["-p", "my colour is green", "--output", "json", ...MODEL], server);
    const { conversation } = JSON.parse(first.stdout);
    await banyan(place, ["-p", "and now?", "--continue", ...MODEL], server);
    await banyan(place, ["-p", "and then?", "--resume", conversation.slice(0, 20), ...MODEL], server);
    const last = await banyan(place, ["-p", "and last?", "--resume", "Green", "--output", "json", ...MODEL], server);
    expect(JSON.parse(last.stdout).conversation).toBe(conversation);
    const said = JSON.stringify(server.asked.at(-1));
    for (const text of ["my colour is green", "and now?", "and then?", "and last?"]) expect(said).toContain(text);
  });

  test.skipIf(!hasTmux)("goes on by a title that /title gave, also after more work", async () => {
    await using server = await modelServer({ text: "Noted." });
    const say = async (...args: string[]) =>
      JSON.parse((await banyan(place, ["-p", ...args, "-o", "json", ...MODEL], server)).stdout).conversation;
    const conversation = await say("my colour is green");
    await say("my colour is red");
    using pty = Pty.open(place, ["--resume", conversation, ...MODEL], server.env);
    await pty.prompted();
    await pty.exchange("/title Colours of life", "The title is now “Colours of life”.");
    await pty.exchange("and more", "Noted.");
    // Ctrl-D leaves only an idle agent.
    await pty.until(/· 30 tokens/);
    pty.press("C-d");
    await pty.until("[exit 0]");
    expect(await say("and last?", "--resume", "colours of life")).toBe(conversation);
  });

  test("goes on with --continue by a link to its folder, and with --resume after the folder was renamed", async () => {
    await using server = await modelServer({ text: "Noted." });
    const at = (name: string) => join(place.workspace, name);
    const [folder, link, renamed] = [at("a b/project"), at("link"), at("a b/renamed")];
    mkdirSync(folder, { recursive: true });
    symlinkSync(folder, link);
    const say = async (cwd: string, ...args: string[]) =>
      JSON.parse((await banyan(place, ["-p", ...args, "-o", "json", ...MODEL], { ...server, cwd })).stdout)
        .conversation;
    const conversation = await say(folder, "my colour is green");
    expect(await say(link, "and now?", "--continue")).toBe(conversation);
    renameSync(folder, renamed);
    expect(await say(renamed, "and then?", "--resume", conversation)).toBe(conversation);
    const said = JSON.stringify(server.asked.at(-1));
    for (const text of ["my colour is green", "and now?", "and then?"]) expect(said).toContain(text);
  });

  test("keeps the messages when the model failed", async () => {
    await using server = await modelServer({ status: 400 }, { text: "Here I am." });
    const failed = await banyan(place, ["-p", "my colour is green", ...MODEL], server);
    expect(failed.code).toBe(1);
    await banyan(place, ["-p", "well?", "--continue", ...MODEL], server);
    expect(JSON.stringify(server.asked.at(-1))).toContain("my colour is green");
  });

  test("--continue begins a new conversation if there is none, and says so", async () => {
    await using server = await modelServer({ text: "Yes." });
    const { code, stderr } = await banyan(place, ["-p", "well?", "--continue", ...MODEL], server);
    expect(code).toBe(0);
    expect(stderr).toContain("This directory has no conversation yet. Starting a new conversation.");
  });
});
