import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writtenMessage } from "../messages/written-message.ts";
import { random } from "../redaction/secrets.fixture.ts";
import { openHost } from "./open-host.ts";

let home: string;
let cwd: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-at-rest-")));
  cwd = join(home, "project");
  mkdirSync(join(home, "own/config"), { recursive: true });
  mkdirSync(cwd);
  writeFileSync(join(home, "own/config/settings.json"), JSON.stringify({ sandbox: { enabled: "off" } }));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A secret for each way into the program. */
const secrets = () => ({
  typed: `ghp_${random(36)}`,
  attached: `npm_${random(36)}`,
  printed: `sk-ant-api03-${random(93)}AA`,
  shown: `https://admin:${random(16)}@db.example.org/main`,
  remembered: `xoxb-${random(12, "123456789")}-${random(12, "123456789")}-${random(24)}`,
  summed: `glpat-${random(20)}`,
});

/**
 * The findings of an independent scanner in all stored files, and the text of these files. Snapshots are copies of the
 * workspace's own files, as are the backups of changed files: only their owner can read them.
 */
async function scanned(): Promise<{ readonly found: readonly string[]; readonly text: string }> {
  const folder = join(home, "own/data");
  const copies = join(folder, "snapshots");
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = all.filter(({ parentPath }) => parentPath !== copies);
  const modes = [copies, ...readdirSync(copies).map((name) => join(copies, name))].map(
    (at) => statSync(at).mode & 0o77,
  );
  expect(modes.length).toBeGreaterThan(1);
  expect(new Set(modes)).toEqual(new Set([0]));
  const text = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8")).join("\n");
  return { text, found: await findings(text) };
}

async function findings(content: string): Promise<string[]> {
  const { messages } = await lintSource({
    source: { filePath: "kept.txt", content, contentType: "text", ext: ".txt" },
    options: { config: { rules: [{ id: "@secretlint/secretlint-rule-preset-recommend", rule: creator }] } },
  });
  return messages.map(({ message }) => message);
}

test("S10: an independent scanner finds no secret in a conversation's files, whatever its source", async () => {
  const secret = secrets();
  // The scanner recognizes all of these secrets.
  expect(await findings(Object.values(secret).join("\n"))).toHaveLength(Object.keys(secret).length);
  writeFileSync(join(cwd, "attached.txt"), `Use ${secret.attached} here.`);
  writeFileSync(join(cwd, "printed.txt"), `It is ${secret.printed} at ${secret.shown} there.`);
  const env = { BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
  const host = await openHost({ cwd, home, env, flags: { model: "demo/offline" }, canAsk: true });
  const model = scriptedModel([
    [call("shell", { command: "cat printed.txt; touch seen" }), call("read", { path: "printed.txt" })],
    "All of this is noted.",
  ]);
  const agent = host.agent.with({ model, permission: () => ({ decision: "allow" }) });
  const session = await host.newSession();
  const { parts } = await writtenMessage(
    host,
    `My token is ${secret.typed}, see @attached.txt.`,
    AbortSignal.timeout(60_000),
  );
  for await (const _ of agent.chat(say(parts), { session }));
  const { memory } = await host.ready();
  await memory?.add({ text: `The token of the team is ${secret.remembered}.`, conversation: session.id });
  await memory?.remember([{ kind: "summary", text: `Set ${secret.summed} up.`, conversation: session.id, at: 1 }]);
  await session.close();
  await host.close();
  const { found, text } = await scanned();
  expect(text).toContain("My token is [redacted:github-token], see");
  expect(text).toContain(
    "It is [redacted:anthropic-key] at https://admin:[redacted:password]@db.example.org/main there.",
  );
  expect(found).toEqual([]);
});
