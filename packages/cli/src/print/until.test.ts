import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer, type ServerAnswer } from "../testing/model-server.ts";

const MODEL = ["--model", "openai-compatible/test"];

let place: Home;
beforeEach(() => {
  place = home();
  writeFileSync(join(place.workspace, "number"), "1\n");
});
afterEach(() => place[Symbol.dispose]());

const call = (tool: string, input: object): ServerAnswer => ({ calls: [{ tool, input }] });
const finish = (result: unknown) => call("finish_task", { result });
const until = (command: string, ...more: string[]) => ["run", "--until", command, "make it 2", ...more, ...MODEL];

describe("banyan run --until", () => {
  test("E12, E15: ends with 0 only if the command succeeds after the last change, and runs it unasked", async () => {
    await using server = await modelServer(
      finish("All tests pass."),
      call("write", { path: "number", content: "2\n" }),
      finish("It is 2."),
    );
    const run = await banyan(place, until("grep -q 2 number", "--allow", "write"), server);
    expect(run).toMatchObject({ code: 0, stdout: "It is 2.\n" });
    expect(run.stderr).toContain(
      "Goal not reached yet. These checks failed: `grep -q 2 number` exits with 0 (it exited with 1; it printed nothing).",
    );
    expect(run.stderr).toContain("Goal reached: `grep -q 2 number` exits with 0");
    expect(JSON.stringify(server.asked[1])).toContain("it exited with 1");
  });

  test("E15: ends with 1 and the code `goal` if the goal is not reached", async () => {
    await using server = await modelServer(finish("Done."), finish("Done!"), finish("Done!!"), finish("Done!!!"));
    const { code, stdout } = await banyan(place, until("grep -q 2 number", "-o", "json"), server);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ reason: "failed", exitCode: 1, error: { code: "goal" } });
    expect(server.asked).toHaveLength(3);
  });

  test("E14, E15: a test that the model weakened does not count", async () => {
    writeFileSync(join(place.workspace, "check.sh"), "grep -q 2 number\n");
    const lie = [call("write", { path: "check.sh", content: "exit 0\n" }), finish("Done."), finish("Done.")];
    await using server = await modelServer(...lie, finish("Done."), finish("Done."));
    const run = await banyan(place, until("sh check.sh", "--allow", "write"), server);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain("Changed since the goal began: check.sh.");
    expect(readFileSync(join(place.workspace, "check.sh"), "utf8")).toBe("exit 0\n");
  });

  test("E15: --until without a task, and an empty command, are refused", async () => {
    await using server = await modelServer({ text: "Hello." });
    expect(await banyan(place, ["-p", "hello", "--until", "true", ...MODEL], server)).toMatchObject({ code: 2 });
    expect(await banyan(place, until(" "), server)).toMatchObject({ code: 2 });
  });
});
