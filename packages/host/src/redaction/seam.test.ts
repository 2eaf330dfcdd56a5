import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, Session, say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { workspaceTools } from "@banyan/tools/workspace";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runUserCommand } from "../messages/user-command.ts";
import { redactedTools } from "./redacted-tools.ts";
import { redactor } from "./redactor.ts";
import { privateKey, random } from "./secrets.fixture.ts";

/** Longer than the kept part of an output, so that its middle is left out. */
const LONG = 100_000;
/** Number of characters of a secret that do not reveal it. */
const HARMLESS = 12;

let workspace: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "banyan-seam-"));
});
afterEach(() => rmSync(workspace, { recursive: true }));

/** All traces of a file with a secret that a command prints. */
async function traces(secret: string, redact: ReturnType<typeof redactor>, shift: number): Promise<string> {
  const line = `${secret}\n`;
  const text = `${"x".repeat(shift)}\n${line.repeat(Math.ceil(LONG / line.length))}`;
  writeFileSync(join(workspace, "output.txt"), text);
  const [shell] = workspaceTools({ root: workspace, redaction: redact.stream }).filter(({ name }) => name === "shell");
  const model = scriptedModel([[call("shell", { command: "cat output.txt" })], "done"]);
  const agent = new Agent({ model, tools: redactedTools(shell ? [shell] : [], redact) });
  const seen: unknown[] = [model.requests];
  for await (const item of agent.chat(say("go"), { session: Session.inMemory() })) seen.push(item);
  return JSON.stringify(seen);
}

function leaks(secret: string, text: string): boolean {
  const pieces = secret.split("\n").filter((line) => !line.startsWith("-----"));
  return pieces.some((piece) => {
    for (let at = 0; at + HARMLESS <= piece.length; at += 1)
      if (text.includes(piece.slice(at, at + HARMLESS))) return true;
    return false;
  });
}

test("S10: no part of a secret stays at the seam of a shortened output", async () => {
  const token = `ghp_${random(36)}`;
  const redact = redactor({ env: {} });
  // All positions of the seam within the line.
  for (let shift = 0; shift <= token.length; shift += 1) {
    const text = await traces(token, redact, shift);
    expect(text).toContain("bytes dropped");
    expect([shift, leaks(token, text)]).toEqual([shift, false]);
  }
});

test("S10: nor of a secret of many lines, or of several words", async () => {
  const key = privateKey();
  const phrase = "correct 8orse battery staple 42";
  for (const shift of [0, 111, 222, 333, 444, 555]) {
    expect(leaks(key, await traces(key, redactor({ env: {} }), shift))).toBe(false);
    expect(leaks(phrase, await traces(phrase, redactor({ env: { DB_PASSWORD: phrase } }), shift))).toBe(false);
  }
});

test("S10: no part of a secret stays in the output of the user's own command, which the user sees in full", async () => {
  const token = `ghp_${random(36)}`;
  writeFileSync(join(workspace, "output.txt"), `${token}\n`.repeat(3000));
  let shown = "";
  const { parts } = await runUserCommand({ redact: redactor({ env: {} }), directory: workspace }, "cat output.txt", {
    signal: new AbortController().signal,
    onOutput: (text) => {
      shown += text;
    },
  });
  const told = JSON.stringify(parts);
  expect(told).toContain("bytes dropped");
  expect(leaks(token, told)).toBe(false);
  expect(leaks(token, shown)).toBe(true);
});
