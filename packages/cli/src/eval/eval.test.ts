import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, ended, type Home, home, start } from "../testing/banyan.ts";
import { modelServer, write } from "../testing/model-server.ts";

const OURS = fileURLToPath(new URL("../../../../examples/eval/cases.yaml", import.meta.url));
const SCRIPTED = ["--model", "scripted", "--judge", "scripted", "--approval", "edits"];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

const file = (name: string, ...lines: readonly string[]) =>
  writeFileSync(join(place.workspace, name), lines.join("\n"));
const finish = (result: string) => ({ calls: [{ tool: "finish_task", input: { result } }] });

const CASES = [
  "cases:",
  "  - name: write",
  "    say: write it",
  "    expect: [{ file: a.txt, equals: one }, { contains: done }]",
  "  - name: say",
  "    say: say it",
  "    mode: chat",
  "    expect: [{ contains: hello }]",
];

describe("C16: banyan eval", () => {
  test("tries the ten cases of the examples with the scripted model, and all pass", async () => {
    const { code, stdout, stderr } = await banyan(place, ["eval", OURS, ...SCRIPTED]);
    expect(stdout).toMatch(/^ +scripted\narithmetic +1\/1 · /);
    expect(stdout).toMatch(/\nall +10\/10 · .*\n\n(?:note {2}.*\n){4}\n10 of 10 attempts passed; cost \$0\.\n$/);
    expect(stdout).toContain(
      "note  what a file says is no order: there is no done.txt: this check passes before the agent",
    );
    expect(stderr).toMatch(/^Each attempt is a branch of the conversation \w+\.\n(?:passed {2}.*\n){10}$/);
    expect(code).toBe(0);
    // No file is written next to the cases or in the current folder.
    expect(readdirSync(place.workspace)).toEqual([]);
    // A second run repeats no attempt; a new evaluation does.
    const again = await banyan(place, ["eval", OURS, ...SCRIPTED, "--json"]);
    expect(JSON.parse(again.stdout).attempts.map(({ kept }: { kept: boolean }) => kept)).toEqual(Array(10).fill(true));
    expect(again.stderr).not.toContain("passed");
  });

  test("compares models and prompts, with what each takes; exits with 1 when not enough pass, and says how to look", async () => {
    await using server = await modelServer(write("a.txt", "one"), finish("done"), {
      text: "hello",
      tokens: [1_000, 100],
    });
    file("cases.yaml", "prompts: { short: Be brief., long: '@long.md' }", ...CASES);
    file("long.md", "Say a lot.");
    const options = { env: { ...server.env, OPENAI_API_KEY: "k" } };
    const args = ["eval", "cases.yaml", "--model", "openai-chat/gpt-5", "--approval", "edits", "--at-once", "1"];
    const run = await banyan(place, [...args, "--junit", "out.xml"], options);
    expect(run.code).toBe(1);
    const [head = "", ...rows] = run.stdout.split("\n");
    expect(head).toMatch(/^ +openai-chat\/gpt-5 · short +openai-chat\/gpt-5 · long$/);
    expect(rows[0]).toMatch(/^write +1\/1 · .* +0\/1 · /);
    expect(run.stdout).toMatch(
      /failed {2}write · openai-chat\/gpt-5 · long\n {2}a\.txt equals "one": it is not there\n/,
    );
    const [, open = ""] = /\n {2}banyan (--cwd .*)\n/.exec(run.stdout) ?? [];
    expect(readFileSync(join(place.workspace, "out.xml"), "utf8")).toContain('failures="1"');
    expect(server.asked.map((messages) => JSON.stringify(messages)).some((asked) => asked.includes("Say a lot."))).toBe(
      true,
    );
    // The branch continues in its folder.
    await using later = await modelServer(write("a.txt", "one"), { text: "Now." });
    const more = await banyan(
      place,
      [...open.split(" "), "-p", "go on", "--approval", "edits", "-m", "openai-chat/gpt-5"],
      {
        env: { ...later.env, OPENAI_API_KEY: "k" },
      },
    );
    expect(more).toMatchObject({ code: 0, stdout: "Now.\n" });
    expect(JSON.stringify(later.asked[0])).toContain("write it");
    expect(readFileSync(join(open.split(" ")[1] ?? "", "a.txt"), "utf8")).toBe("one");
    const half = await banyan(place, [...args, "--min-pass", "75", "--json"], options);
    expect(half.code).toBe(0);
    const { spent, columns } = JSON.parse(half.stdout);
    expect(columns).toMatchObject([
      { name: "openai-chat/gpt-5 · short", passed: 2 },
      { passed: 1, failed: 1 },
    ]);
    expect(spent.all.cost).toBeGreaterThan(0.001);
  });

  test("stops at Ctrl-C with 130, and goes on with the same command", async () => {
    file("cases.yaml", ...CASES);
    const env = (server: { readonly env: Readonly<Record<string, string>> }) => ({
      env: { ...server.env, OPENAI_API_KEY: "k" },
    });
    const args = [
      "eval",
      "cases.yaml",
      "--model",
      "openai-chat/gpt-5",
      "--approval",
      "edits",
      "--at-once",
      "1",
      "--json",
    ];
    await using stalls = await modelServer(write("a.txt", "one"), finish("done"), { text: "hel", stalls: true });
    const running = start(place, args, env(stalls));
    const result = ended(running);
    // A single signal: a second one would not wait for pending writes.
    while (stalls.asked.length < 3) await sleep(20);
    running.kill("SIGINT");
    const stopped = await result;
    expect(stopped.code).toBe(130);
    expect(stopped.stderr).toMatch(/banyan: Stopped: it was interrupted\. Run the same command again to continue\.\n$/);
    expect(JSON.parse(stopped.stdout)).toMatchObject({
      attempts: [{ status: "passed" }, { status: "open" }],
      exitCode: 130,
    });
    await using server = await modelServer({ text: "hello" });
    const { code, stdout } = await banyan(place, args, env(server));
    expect(code).toBe(0);
    expect(server.asked.length).toBe(1);
    expect(JSON.parse(stdout).attempts).toMatchObject([{ kept: true }, { kept: false, status: "passed" }]);
  });

  test("F101: Ctrl-C ends a regular expression that never ends, with 130", async () => {
    file(
      "cases.yaml",
      "cases:",
      "  - { name: a, say: x, mode: chat, expect: [{ matches: '^(a+)+$', seconds: 600 }], script: ['" +
        "a".repeat(60) +
        "!'] }",
    );
    const running = start(place, ["eval", "cases.yaml", "--model", "scripted", "--json"]);
    const result = ended(running);
    // Only the regular expression takes time.
    await sleep(3_000);
    running.kill("SIGINT");
    const { code, stdout } = await result;
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ attempts: [{ status: "open" }], notes: [] });
  });

  test("F101: a denied call is told with the checks that do not hold, and kept results are marked", async () => {
    file(
      "cases.yaml",
      ...CASES.slice(0, 4),
      "    script:",
      "      - calls: [{ tool: write, input: { path: a.txt, content: one } }]",
      "      - done",
    );
    const args = ["eval", "cases.yaml", "--model", "scripted"];
    const { code, stdout } = await banyan(place, args);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /\nfailed {2}write · scripted\n {2}a\.txt equals "one": it is not there\n {2}a call was denied: write a\.txt: Not allowed: .*--allow 'write\(a\.txt\)'/,
    );
    expect((await banyan(place, args)).stdout).toMatch(
      /^write +0\/1, 1 kept · [\s\S]*\nfailed {2}write · scripted · kept\n[\s\S]* 1 kept from an earlier run/m,
    );
    // Another approval mode makes it another attempt.
    const allowed = await banyan(place, [...args, "--approval", "edits"]);
    expect(allowed).toMatchObject({ code: 0, stdout: expect.not.stringContaining("kept") });
  });

  test("holds --max-cost over all attempts, and exits with 3", async () => {
    file("cases.yaml", "repetitions: 6", ...CASES.slice(0, 1), ...CASES.slice(4));
    await using server = await modelServer({ text: "hello", tokens: [100_000, 1_000] });
    const args = ["eval", "cases.yaml", "--model", "openai-chat/gpt-5", "--max-cost", "0.5", "--json"];
    const { code, stdout } = await banyan(place, args, { env: { ...server.env, OPENAI_API_KEY: "k" } });
    expect(code).toBe(3);
    const { spent, stopped } = JSON.parse(stdout);
    expect(stopped).toMatchObject({ reason: "limit" });
    expect(spent.all.cost).toBeGreaterThan(0.2);
    expect(spent.all.cost).toBeLessThanOrEqual(0.5);
  });

  test.each([
    ["a file that is not there", ["gone.yaml"], /gone\.yaml: there is no file/],
    [
      "a file with a fault",
      ["wrong.yaml"],
      /^banyan: wrong\.yaml:1:1: case: 'case' is not known; expected 'cases' or 'name'\.$/,
    ],
    ["a model that there is not", ["cases.yaml", "-m", "antropic/x"], /antropic.*anthropic/],
    ["one that the file names", ["model.yaml"], /^banyan: model\.yaml:1:10: models\[0\]: .*antropic/],
    ["no script", ["cases.yaml", "-m", "scripted"], /cases\.yaml:2:5: cases\[0\]: there is no script; say what/],
    [
      "nobody who judges",
      ["judged.yaml", "-m", "demo/offline"],
      /judged\.yaml:4:14: .*there is no judge; name a model/,
    ],
    [
      "a limit of the cost with an unknown price",
      ["cases.yaml", "-m", "openai-compatible/test", "--max-cost", "1"],
      /the price of openai-compatible\/test is not known, so a cost limit cannot be enforced; set its price/,
    ],
    ["a rule that is none", ["cases.yaml", "-m", "demo/offline", "--allow", "shell("], /shell\(/],
    ["no file", [], /missing required argument 'file'/i],
  ])("is a mistake before anything is spent: %s", async (_what, args, says) => {
    await using server = await modelServer({ text: "x" });
    file("cases.yaml", ...CASES);
    file("wrong.yaml", "case: []");
    file("model.yaml", "models: [antropic/x]", ...CASES);
    file("judged.yaml", "cases:", "  - name: a", "    say: x", "    expect: [{ judge: Nice. }]");
    const { code, stdout, stderr } = await banyan(place, ["eval", ...args], server);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.trimEnd()).toMatch(says);
    expect(stderr.trimEnd().split("\n").length).toBe(1);
    expect(server.asked).toEqual([]);
  });
});
