import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as read } from "node:stream/consumers";
import { defineTool, launchAgent } from "@banyan/core";
import { call, cut, reasoning, scriptedModel, text } from "@banyan/core/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { pythonPackage } from "../../../../../scripts/python-package.ts";
import { AgUiClient } from "../../testing/ag-ui-client.fixture.ts";
import { serving, TOKEN } from "../../testing/serving.fixture.ts";

const { path: PYTHONPATH, whyNot } = pythonPackage("ag-ui-validate[transport]==0.4.0");

/** The validator's output for a stream or an address, and its exit code: 0 is valid. */
async function validated(
  what: string,
  sent = "",
  ...more: readonly string[]
): Promise<readonly [code: number, said: string]> {
  const given = [what, "--header", `Authorization: Bearer ${TOKEN}`, "--max-warnings", "0", "--no-color", ...more];
  const program = ["-c", "from ag_ui_validate.cli import main; import sys; sys.exit(main())", ...given];
  const run = spawn("python3", program, {
    env: { ...process.env, ...(PYTHONPATH && { PYTHONPATH }) },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void run.kill());
  run.stdin.end(sent);
  const [said, [code]] = await Promise.all([read(run.stdout), once(run, "exit")]);
  return [code, said];
}

describe.skipIf(whyNot !== "")(`the checker ag-ui-validate of AG-UI${whyNot}`, () => {
  test("finds no fault in the answers of the address", async () => {
    const { server } = await serving({ model: scriptedModel(["It is noon."]) });
    const [code, said] = await validated(`${server.address}/api/ag-ui`);
    expect([code, said]).toEqual([0, expect.stringMatching(/./)]);
  });

  test("finds no fault in a turn with all kinds of events, and finds a missing field", async () => {
    const write = defineTool({
      name: "write",
      description: "",
      input: { type: "object" },
      effects: "external",
      execute: () => "written",
    });
    const model = scriptedModel((request, index) => {
      const [first] = request.messages;
      if (JSON.stringify(first).includes("Count")) return [text("I count."), call("finish_task", { result: "12" })];
      if (index === 0) return [text("Half"), cut()];
      const launch = call("launch_agent", { task: "Count.", expected_output: "a number" });
      return request.messages.length === 1 ? [reasoning("Hm."), text("I begin."), launch, call("write")] : "Done.";
    });
    const { server } = await serving({ model, tools: [write, launchAgent()], permission: asksToWrite });
    const client = new AgUiClient(server.address, "all");
    await client.say("go");
    const interruptId = client.pendingInterrupts[0]?.id ?? "";
    await client.runAgent({ resume: [{ interruptId, status: "resolved", payload: { approved: true } }] });
    expect(client.told.at(-1)).toBe("assistant: Done.");
    const lines = client.seen.map((event) => JSON.stringify(event));
    const resumed = client.seen.findLastIndex(({ type }) => type === "RUN_STARTED");
    const [code, said] = await validated("-", lines.slice(0, resumed).join("\n"));
    expect([code, said]).toEqual([0, expect.stringMatching(/./)]);
    // The result of a call that asked comes in the next run without its start, which the validator does not know.
    const rest = await validated("-", lines.slice(resumed).join("\n"), "--off", "AGUI207");
    expect(rest).toEqual([0, expect.stringMatching(/./)]);
    const broken = lines.slice(0, resumed).filter((line) => !line.includes("TEXT_MESSAGE_END"));
    expect((await validated("-", broken.join("\n")))[0]).toBe(1);
  });
});

const asksToWrite = ({ tool }: { readonly tool: { readonly name: string } }) =>
  ({ decision: tool.name === "write" ? "ask" : "allow" }) as const;
