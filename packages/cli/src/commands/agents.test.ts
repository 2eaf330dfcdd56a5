import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];

test.skipIf(!hasTmux)(
  "T30: the list shows sub-agents with their status and live work, and answers their questions",
  async () => {
    using place = home();
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await using server = await modelServer(
      { calls: [{ tool: "launch_agent", input: { task: "touch the file", expected_output: "a word" } }] },
      { text: "I touch it.", calls: [{ tool: "shell", input: { command: "touch made.txt" } }] },
      {
        text: ["It ", "is ", "there."],
        held,
        calls: [{ tool: "finish_task", input: { result: "touched", summary: "" } }],
      },
      { text: "All is done." },
    );
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    pty.enter("have it touched");
    await pty.asked();
    // The user can view the sub-agents during the question, and answer there.
    pty.press("M-a");
    await pty.until(/^❯ 1 {2}touch the file.* asks you, /);
    expect(await pty.asked()).toContain("agent 1 asks to run shell in");
    pty.press("Enter");
    await pty.until("I touch it.");
    await pty.asked();
    pty.press("Escape");
    await pty.until(/^❯ 1 {2}touch the file.* asks you, /);
    await pty.asked();
    pty.press("y", "Enter");
    await pty.until(/ running, /);
    pty.press("Enter");
    await pty.until("I touch it.");
    await pty.until("touch made.txt … done");
    await pty.until(/^It *$/);
    goOn();
    await pty.until(/^It is there\.$/);
    pty.press("Left");
    await pty.until(/^❯ 1 {2}touch the file.* done, /);
    expect(await pty.until(/0 at work/)).toMatch(/^─ 1 sub-agent ─/);
    pty.press("Escape");
    expect(await pty.prompted()).toContain("All is done.");
  },
);
