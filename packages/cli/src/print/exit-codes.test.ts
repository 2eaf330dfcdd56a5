import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home, MAIN } from "../testing/banyan.ts";
import { modelServer, shell } from "../testing/model-server.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

/** Expects one line for the user: no stack trace, and no stdout. */
function oneSentence(stderr: string): string {
  const [line = "", ...others] = stderr.trimEnd().split("\n");
  expect(others).toEqual([]);
  expect(line).toMatch(/^banyan: \S.*[.?)]$/);
  return line;
}

describe("T35: a mistake on the command line exits with 2 and one sentence", () => {
  const file = (name: string, text: string) => writeFileSync(join(place.workspace, name), text);

  test.each([
    { name: "an unknown provider", args: ["--model", "antropic/claude"], says: /antropic.*anthropic/ },
    { name: "an unknown model of the demo", args: ["--model", "demo/big"], says: /demo\/big/ },
    { name: "a model without a provider", args: ["--model", "claude"], says: /'?"?claude/ },
    { name: "a server without an address", args: MODEL, says: /OPENAI_COMPATIBLE_BASE_URL/ },
    { name: "a rule file that is no JSON", args: ["--rules", "broken.json"], says: /broken\.json:1:18: / },
    { name: "a rule file with a broken rule", args: ["--rules", "wrong.json"], says: /permissions\.allow\[0\]/ },
    { name: "a rule file that does not exist", args: ["--rules", "none.json"], says: /none\.json/ },
    { name: "a broken rule", args: ["--allow", "shell("], says: /shell\(/ },
    { name: "a workspace that does not exist", args: ["--cwd", "nowhere"], says: /nowhere/ },
    { name: "a workspace that is a file", args: ["--cwd", "broken.json"], says: /broken\.json/ },
    { name: "an id that does not exist", args: ["--resume", "0000000000"], says: /0000000000/ },
    { name: "an unknown option", args: ["--modle", "x"], says: /--modle.*--model/ },
    { name: "a number that is none", args: ["--max-steps", "many"], says: /--max-steps.*many.*whole number/ },
    { name: "a number out of range", args: ["--temperature", "3"], says: /--temperature.*3.*from 0 to 2/ },
    { name: "a time that is none", args: ["--timeout", "soon"], says: /--timeout.*soon.*30s/ },
    { name: "a silence that is none", args: ["--silence", "long"], says: /--silence.*long.*30s/ },
    { name: "attempts that are none", args: ["--attempts", "0"], says: /--attempts.*0.*at least 1/ },
    { name: "an unknown format", args: ["--output", "xml"], says: /--output.*xml.*jsonl/ },
    { name: "--continue with --resume", args: ["--continue", "--resume", "x"], says: /--continue.*--resume/ },
  ])("$name", async ({ args, says }) => {
    file("broken.json", '{"permissions": nothing}');
    file("wrong.json", '{"permissions": {"allow": ["shell("]}}');
    const { code, stdout, stderr } = await banyan(place, ["-p", "hi", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(oneSentence(stderr)).toMatch(says);
  });

  test.each([
    { name: "a misspelt command", args: ["rnu", "do it"], says: /no command rnu\. Did you mean banyan run\?/ },
    { name: "another one", args: ["conversation"], says: /Did you mean banyan conversations\?/ },
  ])("$name, and nothing is sent", async ({ args, says }) => {
    const { code, stdout, stderr } = await banyan(place, args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(oneSentence(stderr)).toMatch(says);
  });

  test("settings in which a rule may be lost, which stay as they are", async () => {
    const config = join(place.env.BANYAN_HOME ?? "", "config");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "settings.json"), '{"permisions": {"deny": ["shell"]}}');
    const { code, stderr } = await banyan(place, ["-p", "hi"]);
    expect(code).toBe(2);
    expect(oneSentence(stderr)).toMatch(/settings\.json:1:2: 'permisions' is not known; expected 'permissions'/);
  });

  // root may read everything, so another user runs the command, if that user may read the program.
  const uid = process.getuid?.() === 0 ? 65534 : undefined;
  const canRun = spawnSync(process.execPath, [MAIN, "--version"], { uid }).status === 0;

  test.runIf(canRun)("a workspace that cannot be read", async () => {
    chmodSync(place.workspace, 0o000);
    const { code, stderr } = await banyan(place, ["-p", "hi", "--cwd", place.workspace], { cwd: "/", uid });
    expect(code).toBe(2);
    expect(oneSentence(stderr)).toMatch(/cannot be (read|opened)/);
  });

  test("and writes no file except Node's compile cache", async () => {
    const kept = () =>
      readdirSync(place.env.BANYAN_HOME ?? "", { recursive: true }).filter((path) => !/^cache\b/.test(String(path)));
    const before = kept();
    await banyan(place, ["-p", "hi", "--model", "nobody/nothing"], { env: { NODE_COMPILE_CACHE: "" } });
    expect(kept()).toEqual(before);
    expect(readdirSync(join(place.env.BANYAN_HOME ?? "", "cache"))).not.toEqual([]);
  });
});

describe("T35: the provider's status decides the exit code", () => {
  test.each([
    { status: 400, code: 1 },
    { status: 401, code: 5 },
    { status: 403, code: 5 },
    { status: 404, code: 2 },
  ])("HTTP $status is $code", async ({ status, code }) => {
    await using server = await modelServer({ status });
    const run = await banyan(place, ["-p", "hi", ...MODEL], server);
    expect(run.code).toBe(code);
    expect(run.stdout).toBe("");
    expect(run.stderr).toMatch(/\nbanyan: 127\.0\.0\.1:\d+ .*\n$/);
  });

  test("a missing key is 5, before anything is sent", async () => {
    const { code, stderr } = await banyan(place, ["-p", "hi", "--model", "anthropic/claude-sonnet-5"]);
    expect(code).toBe(5);
    expect(oneSentence(stderr)).toContain("ANTHROPIC_API_KEY");
  });

  test("an unreachable host is 1, after a retry", async () => {
    const env = { OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:9/v1" };
    const { code, stderr } = await banyan(place, ["-p", "hi", ...MODEL], { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/Trying again in .* \(the provider cannot be reached, attempt 2\)/);
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^banyan: 127\.0\.0\.1:9 cannot be reached/);
  });
});

describe("F35: a model that fails", () => {
  const busy = { status: 503 };
  const log = () => readFileSync(join(place.env.BANYAN_HOME ?? "", "state", "banyan.log"), "utf8");

  test.each<{ name: string; args: readonly string[]; env: Readonly<Record<string, string>> }>([
    { name: "--attempts", args: ["--attempts", "1"], env: {} },
    { name: "--retry-time", args: ["--retry-time", "10ms"], env: {} },
    { name: "BANYAN_ATTEMPTS", args: [], env: { BANYAN_ATTEMPTS: "1" } },
    { name: "BANYAN_RETRY_TIME", args: [], env: { BANYAN_RETRY_TIME: "0.01" } },
  ])("is asked again as $name says, and the log has all that it said (F29)", async ({ args, env }) => {
    await using server = await modelServer(busy);
    const { code, stderr } = await banyan(place, ["-p", "hi", ...args, ...MODEL], { env: { ...server.env, ...env } });
    expect(code).toBe(1);
    expect(stderr.trimEnd()).toMatch(/^banyan: 127\.0\.0\.1:\d+ is overloaded/m);
    expect(server.asked).toHaveLength(1);
    expect(JSON.parse(log())).toMatchObject({ code: "overloaded", detail: expect.stringContaining("told to fail") });
  });

  test("is asked again, and each time a line says why and when", async () => {
    await using server = await modelServer(busy, { text: "Here I am." });
    const { code, stdout, stderr } = await banyan(place, ["-p", "hi", ...MODEL], server);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Here I am.\n" });
    expect(stderr).toMatch(/is overloaded.* Trying again in \d\.\d s \(HTTP 503, attempt 2\)/);
  });

  test("a model that stays silent for the time of --silence fails", async () => {
    await using server = await modelServer({ stalls: true });
    const flags = ["--silence", "300ms", "--attempts", "1"];
    const { code, stderr } = await banyan(place, ["-p", "hi", ...flags, ...MODEL], server);
    expect(code).toBe(1);
    expect(stderr).toMatch(/sent nothing for 0\.3 s, so Banyan treats the stream as broken/);
  });
});

describe("T35: an empty or incomplete answer is not 0", () => {
  test.each([
    { name: "empty", answer: {}, code: 1, says: /The model gave no answer/ },
    { name: "a thought alone", answer: { reasoning: "Hm." }, code: 1, says: /The model gave no answer/ },
    { name: "white space", answer: { text: " \n" }, code: 1, says: /The model gave no answer/ },
    {
      name: "cut off",
      answer: { text: "An answ", finish: "length" },
      code: 3,
      says: /cut off at its length limit/,
    },
    {
      name: "refused",
      answer: { text: "An", finish: "content_filter" },
      code: 1,
      says: /refused the request or cut off the answer/,
    },
  ])("$name: $code", async ({ answer, code, says }) => {
    await using server = await modelServer(answer);
    const run = await banyan(place, ["-p", "hi", "--quiet", ...MODEL], server);
    expect(run.code).toBe(code);
    expect(oneSentence(run.stderr)).toMatch(says);
  });

  test("nor is an empty answer after a call", async () => {
    await using server = await modelServer(shell("ls"), {});
    const run = await banyan(place, ["-p", "hi", "--output", "json", "--approval", "all", ...MODEL], server);
    expect(run.code).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject({ reason: "failed", text: "", error: { code: "empty" } });
  });
});

describe("T35: a permission that is missing", () => {
  const touching = shell("touch made.txt");
  const made = () => existsSync(join(place.workspace, "made.txt"));

  test("is denied where nobody can be asked: 4, although there is an answer", async () => {
    await using server = await modelServer(touching, { text: "I could not." });
    const { code, stdout, stderr } = await banyan(place, ["-p", "make it", ...MODEL], server);
    expect({ code, stdout, made: made() }).toEqual({ code: 4, stdout: "I could not.\n", made: false });
    expect(stderr).toContain("--allow 'shell(touch [harmless])'");
  });

  test.each([
    { name: "--allow", args: ["--allow", "shell(touch *)"], code: 0 },
    { name: "--rules", args: ["--rules", "rules.json"], code: 0 },
    { name: "--approval all", args: ["--approval", "all"], code: 0 },
    { name: "--deny against --approval all", args: ["--approval", "all", "--deny", "shell(touch*)"], code: 4 },
  ])("is there with $name: $code", async ({ args, code }) => {
    writeFileSync(join(place.workspace, "rules.json"), '{"permissions": {"allow": ["shell(touch *)"]}}');
    await using server = await modelServer(touching, { text: "Done." });
    const run = await banyan(place, ["-p", "make it", ...args, ...MODEL], server);
    expect({ code: run.code, made: made() }).toEqual({ code, made: code === 0 });
  });

  test("B63: --approval all is said loudly", async () => {
    await using server = await modelServer({ text: "Hi." });
    const { stderr } = await banyan(place, ["-p", "hi", "--approval", "all", ...MODEL], server);
    expect(stderr).toContain("APPROVAL IS OFF");
  });
});
