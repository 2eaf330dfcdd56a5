import { realpathSync } from "node:fs";
import { createId, type Event } from "@banyan/core";
import type { EventBody } from "@banyan/core/conversation";
import { ConversationDirectory } from "@banyan/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];

let clock = Date.now();
let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

/** Creates a conversation of this directory with one exchange. */
async function said(text: string, answer: string): Promise<void> {
  const [id, message, reply] = [createId(), createId(), createId()];
  const cwd = realpathSync(place.workspace);
  const [usage, model] = [{ input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 0 }, "openai-compatible/test"];
  const parts = (words: string) => [{ type: "text", text: words }] as const;
  const bodies: EventBody[] = [
    { type: "conversation.created", id, labels: { cwd, agent: "banyan" } },
    { type: "message.added", message, parentId: null, role: "user", author: "user", parts: parts(text) },
    { type: "message.started", message: reply, parentId: message, run: "r", model },
    { type: "message.completed", message: reply, parts: parts(answer), finish: "stop", usage },
  ];
  await using directory = new ConversationDirectory({ env: place.env, home: "" });
  const events = bodies.map((body, index) => ({ ...body, seq: index + 1, epoch: 1, at: clock++ }) as Event);
  await directory.bringIn({ id, events });
}

// These tests run the command in tmux.
describe.skipIf(!hasTmux)("T41: a conversation is chosen", () => {
  test("from a list with a search in titles and in what was said, and a preview; later also from within a chat", async () => {
    await said("What is red?", "Blood is.");
    await said("What is blue?", "The sea is, far out.");
    await said("What is green?", "Moss.");
    await using server = await modelServer({ text: "Salt water." });
    using pty = Pty.open(place, ["--resume", ...MODEL], server.env);
    await pty.until("3 entries");
    await pty.until("❯ What is green?");
    await pty.until("Moss.");
    // No title contains this word.
    pty.type("far");
    await pty.until("❯ What is blue?");
    expect(await pty.until("The sea is, far out.")).toContain("1 of 3");
    pty.press("Enter");
    expect(await pty.prompted()).toContain("❯ What is blue?\n\nThe sea is, far out.");
    pty.enter("of what?");
    await pty.until("Salt water.");
    expect(server.asked[0]?.filter(({ role }) => role !== "system").map(({ content }) => content)).toEqual([
      "What is blue?",
      "The sea is, far out.",
      "of what?",
    ]);
    await pty.prompted();

    await pty.exchange("/resume red", /^Blood is\.$/);
    pty.enter("/resume");
    await pty.until("3 entries");
    pty.press("Escape");
    await pty.prompted();
    pty.enter("/title Colours of life");
    await pty.until("Colours of life");
    pty.press("C-d");
    const closed = await pty.until("[exit 0]");
    const [, id = ""] = /resume: banyan --resume (\w+)/.exec(closed) ?? [];
    const { stdout } = await banyan(place, ["conversations", "show", id]);
    expect(stdout).toContain("Blood is.");
  });

  test("by its title; of several a person chooses by number in plain lines, and a script is told which there are", async () => {
    await said("What is red?", "Blood is.");
    await said("What is green?", "Moss.");
    await using server = await modelServer({ text: "Grass." });
    using pty = Pty.open(place, ["--plain", "--resume", "what is", ...MODEL], server.env);
    const list = await pty.until("Type a number or words to search for, or press Enter to go back:");
    expect(list).toMatch(/^Conversations\n {2}1 {2}What is green\? .*\n {2}2 {2}What is red\? /m);
    pty.enter("nothing of the kind");
    await pty.until("Nothing matches.");
    pty.enter("blood");
    await pty.until("Conversations\n  1  What is red?");
    pty.enter("1");
    expect(await pty.prompted()).toContain("banyan: Blood is.");

    const script = await banyan(place, ["-p", "and?", "--resume", "what is", ...MODEL], { env: { ...server.env } });
    expect(script).toMatchObject({ code: 2, stdout: "" });
    expect(script.stderr).toContain("matches several conversations");
    const nameless = await banyan(place, ["-p", "and?", ...MODEL, "--resume"], { env: { ...server.env } });
    expect(nameless).toMatchObject({ code: 2, stdout: "" });
    expect(nameless.stderr).toContain("Without a terminal, --resume needs the id or the title of a conversation.");
  });
});
