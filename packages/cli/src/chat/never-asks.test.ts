import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];
const ASKED = "Type yes to run everything without asking:";

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

describe.skipIf(!hasTmux)("S27: two presses of a key cannot turn off all questions", () => {
  test("in full: keys, Enter and other words are no yes; the word is, for this conversation, and not after a restart", async () => {
    await using server = await modelServer({ text: "Hello." }, shell("touch made"), { text: "Made." });
    using pty = Pty.open(place, MODEL, server.env);
    await pty.prompted();
    pty.press("BTab");
    await pty.until("edits freely");
    pty.press("BTab");
    await pty.until(ASKED);
    // Enter alone decides nothing.
    pty.press("Enter");
    await pty.answers("no");
    await pty.until("Approval is unchanged.");
    await pty.until("asks first");
    await pty.prompted();
    // Pressing the key again skips the question and selects the first mode, without a second question.
    pty.press("BTab");
    await pty.until("edits freely");
    pty.press("BTab");
    await pty.hears("x");
    pty.press("BTab");
    await pty.until("Approval is unchanged.", 2);
    await pty.until("asks first");
    expect((await pty.prompted()).split("Everything in this conversation will run")).toHaveLength(3);
    pty.enter("/approval all");
    await pty.until(ASKED);
    await pty.answers("y");
    await pty.until("Approval is unchanged.", 3);
    await pty.prompted();
    pty.enter("/approval all");
    await pty.until(ASKED);
    await pty.answers("yes");
    await pty.until("never asks");
    await pty.prompted();
    await pty.exchange("hello", "Hello.");
    await pty.exchange("make it", "Made.");
    expect(existsSync(join(place.workspace, "made"))).toBe(true);
    // Another conversation asks again.
    await pty.exchange("/clear", "asks first");
    pty.press("C-d");
    await pty.until("[exit 0]");
    using again = Pty.open(place, ["--continue", ...MODEL], server.env);
    await again.prompted();
    expect(again.screen()).toContain("asks first");
  });

  test("in plain lines: the same", async () => {
    await using server = await modelServer({ text: "Hello." });
    using pty = Pty.open(place, ["--plain", ...MODEL], server.env);
    await pty.prompted();
    pty.enter("/approval all");
    await pty.until(ASKED);
    pty.press("Enter");
    await pty.until("Approval is unchanged.");
    await pty.prompted();
    pty.enter("/approval all");
    await pty.until(ASKED, 2);
    pty.enter("yes");
    await pty.until("Approval: the agent runs everything in this conversation without asking.");
  });

  test("is refused without a sandbox, in one sentence that names the option", async () => {
    await using server = await modelServer({ text: "Hello." });
    const env = { ...server.env, BANYAN_UNCONFINED: "", BANYAN_SANDBOX: "off" };
    using pty = Pty.open(place, MODEL, env);
    await pty.prompted();
    pty.enter("/approval all");
    await pty.until("--unconfined");
    expect(pty.screen()).not.toContain(ASKED);
    expect(await pty.prompted()).toContain("asks first");
  });
});

describe("S27: in print mode", () => {
  const env = { BANYAN_UNCONFINED: "", BANYAN_SANDBOX: "off" };

  test.each([
    ["--approval all needs a sandbox", ["--approval", "all"], {}, false],
    ["so does BANYAN_APPROVAL", [], { BANYAN_APPROVAL: "all" }, false],
    ["--unconfined does without", ["--approval", "all", "--unconfined"], {}, true],
  ])("%s", async (_name, args, more, isMade) => {
    await using server = await modelServer(shell("touch made"), { text: "Made." });
    const { stderr } = await banyan(place, ["-p", "make it", ...args, ...MODEL], {
      env: { ...server.env, ...env, ...more },
    });
    expect(existsSync(join(place.workspace, "made"))).toBe(isMade);
    expect(/needs a sandbox.*--unconfined/.test(stderr)).toBe(!isMade);
  });
});
