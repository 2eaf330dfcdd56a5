import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer, type ServerAnswer } from "../testing/model-server.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

const call = (tool: string, input: object): ServerAnswer => ({ calls: [{ tool, input }] });
const finish = (result: unknown) => call("finish_task", { result, summary: "counted" });

describe("banyan run", () => {
  test("T35: works until the task is finished: its result alone is on stdout, the rest on stderr, and the exit is 0", async () => {
    await using server = await modelServer({ text: "I look first." }, finish("There are 42."));
    const run = await banyan(place, ["run", "count", "them", ...MODEL], server);
    expect(run).toMatchObject({ code: 0, stdout: "There are 42.\n" });
    expect(run.stderr).toContain("I look first.");
    expect(JSON.stringify(server.asked[0])).toContain("count them");
  });

  test("T33: the reason of its result is `finished`", async () => {
    await using server = await modelServer(finish("42"));
    const { stdout } = await banyan(place, ["-p", "--task", "count", "-o", "json", ...MODEL], server);
    expect(JSON.parse(stdout)).toMatchObject({ reason: "finished", exitCode: 0, text: "42" });
  });

  test("T35: a limit is 3, and a denied call 4 although the task was finished", async () => {
    await using endless = await modelServer({ text: "Still thinking." });
    expect((await banyan(place, ["run", "go", "--max-steps", "2", ...MODEL], endless)).code).toBe(3);
    await using looking = await modelServer({ ...call("list", { path: "." }), text: "I look." }, { text: "I looked." });
    const { stdout, stderr } = await banyan(place, ["run", "go", "--max-steps", "1", ...MODEL], looking);
    expect(stdout).toBe("I looked.\n");
    expect(stderr).toContain("I look.\n");
    expect(stderr).not.toContain("I looked.");
    await using denied = await modelServer(call("shell", { command: "touch made.txt" }), finish("done"));
    expect(await banyan(place, ["run", "go", ...MODEL], denied)).toMatchObject({ code: 4, stdout: "done\n" });
    expect(existsSync(join(place.workspace, "made.txt"))).toBe(false);
  });

  test("B39: ask_client has its default, since nobody can be asked", async () => {
    await using server = await modelServer(
      call("ask_client", { question: "Which colour?", default_answer: "blue" }),
      finish("it is blue"),
    );
    expect(await banyan(place, ["run", "paint", ...MODEL], server)).toMatchObject({ code: 0, stdout: "it is blue\n" });
    expect(JSON.stringify(server.asked[1])).toContain("blue");
  });

  test("B44: --output-schema constrains the result; a result that never fits fails", async () => {
    const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
    writeFileSync(join(place.workspace, "schema.json"), JSON.stringify(schema));
    const args = ["run", "count", "--output-schema", "schema.json", ...MODEL];
    await using server = await modelServer(finish({ count: "many" }), finish({ count: 3 }));
    expect(await banyan(place, args, server)).toMatchObject({ code: 0, stdout: '{"count":3}\n' });
    await using wrong = await modelServer(finish({ count: "many" }));
    expect(await banyan(place, args, wrong)).toMatchObject({ code: 1, stdout: "" });
  });

  test("B44: an invalid schema, or a schema without a task, is an error", async () => {
    writeFileSync(join(place.workspace, "list.json"), '{"type": "array"}');
    expect(await banyan(place, ["run", "x", "--output-schema", "list.json", ...MODEL])).toMatchObject({ code: 2 });
    expect(await banyan(place, ["-p", "x", "--output-schema", "list.json"])).toMatchObject({
      code: 2,
      stderr: "banyan: --output-schema describes the result of a task. Use it with --task or banyan run.\n",
    });
  });

  test("B41: text and calls of a sub-agent are progress, never the answer", async () => {
    await using server = await modelServer(
      call("launch_agent", { task: "look at a.txt", expected_output: "what it says" }),
      { text: "I am the sub-agent.", calls: [{ tool: "read", input: { path: "a.txt" } }] },
      finish("it says hello"),
      { text: "The file says hello." },
    );
    writeFileSync(join(place.workspace, "a.txt"), "hello\n");
    const run = await banyan(place, ["-p", "what is in a.txt?", ...MODEL], server);
    expect(run).toMatchObject({ code: 0, stdout: "The file says hello.\n" });
    expect(run.stderr).toMatch(/^agent 1: • read {2}a\.txt … done/m);
    expect(run.stderr).toMatch(/^• launch_agent .* … done/m);
  });
});

describe("B46: files that a prompt names", () => {
  test("are attached with their sizes; names in standard input attach nothing", async () => {
    writeFileSync(join(place.workspace, "a.txt"), "alpha\n");
    await using server = await modelServer({ text: "Yes." });
    const options = { env: server.env, input: "see @b.txt" };
    const { stderr } = await banyan(place, ["-p", "read @a.txt and @gone.txt", ...MODEL], options);
    expect(stderr).toContain("Attached: a.txt (text, 6 B)\n");
    expect(stderr).toContain("Can't attach gone.txt: there is no such file.\n");
    expect(stderr).not.toContain("b.txt does not");
    const said = JSON.stringify(server.asked[0]);
    for (const part of ["read @a.txt", "Standard input:", "see @b.txt", "alpha"]) expect(said).toContain(part);
  });

  test("- is standard input", async () => {
    await using server = await modelServer({ text: "Yes." });
    await banyan(place, ["-p", "-", ...MODEL], { env: server.env, input: "is it so?" });
    expect(server.asked[0]?.at(-1)?.content).toBe("is it so?");
  });
});
