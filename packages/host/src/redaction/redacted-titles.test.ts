import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Session } from "@banyan/core";
import { sqliteStore } from "@banyan/store/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { ConversationDirectory } from "../conversations/conversation-directory.ts";
import { fromJson, toHtml, toJson, toMarkdown } from "../exchange/index.ts";
import { openHost } from "../host/open-host.ts";
import { random } from "./secrets.fixture.ts";

/** A home with two conversations of a program without redaction: one has a secret in its title, one in its first message. */
async function unredacted() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-titles-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const cwd = join(home, "project");
  mkdirSync(cwd);
  const env = { BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
  const secret = `ghp_${random(36)}`;
  const store = sqliteStore({ directory: join(home, "own/data"), program: "test" });
  const titled = await Session.open(store, "titled", { create: true, labels: { cwd } });
  await titled.add("About trees");
  await titled.notes.rename(`Deploy with ${secret}`);
  const untitled = await Session.open(store, "untitled", { create: true, labels: { cwd } });
  await untitled.add(`Trees of ${secret}`);
  for (const session of [titled, untitled]) await session.close();
  await store.close();
  return { home, cwd, env, secret };
}

test("F106: titles in lists, searches, exports and imports have no secrets, whoever wrote the log", async () => {
  const { home, cwd, env, secret } = await unredacted();
  const host = await openHost({ cwd, home, env, flags: { model: "demo/offline" }, canAsk: true });
  onTestFinished(() => host.close());
  await using directory = new ConversationDirectory({ env, home });
  const { state, events } = await directory.read("titled");
  const brought = await directory.bringIn(
    fromJson(toJson(events).replace(/Deploy with [^"]*/, `Deploy with ${secret}`)),
  );
  const shown = {
    listed: await host.listConversations(),
    here: await directory.list(),
    last: await host.lastConversation(),
    found: (await directory.search("trees")).map(({ title }) => title),
    named: await directory.find("Trees of"),
    exports: [toJson(events), toMarkdown(state), toHtml(state)],
    brought: (await directory.read(brought)).state.title,
  };
  expect(JSON.stringify(shown)).not.toContain(secret);
  expect(shown.listed.map(({ title }) => title).sort()).toEqual([
    expect.stringMatching(/^Deploy with \[redacted:.+\]$/),
    expect.stringMatching(/^Deploy with \[redacted:.+\]$/),
    expect.stringMatching(/^Trees of \[redacted:.+\]$/),
  ]);
});
