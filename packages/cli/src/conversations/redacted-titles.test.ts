import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk/unstable";
import { Session } from "@banyan/core";
import { sqliteStore } from "@banyan/store/sqlite";
import { expect, test } from "vitest";
import { banyan, home } from "../testing/banyan.ts";
import { editor } from "../testing/editor.ts";
import { modelServer } from "../testing/model-server.ts";
import { connected, serving, TOKEN } from "../testing/serving.ts";

// Composed at run time, so that secret scanners ignore this file.
const SECRET = `ghp_${"aB3dE6gH9jK2mN5pQ8sT".repeat(2).slice(0, 36)}`;

test("F106: no list, search or export tells the secret of a title: terminal, protocol, HTTP and editors", async () => {
  using place = home();
  const data = join(place.env.BANYAN_HOME ?? "", "data");
  const store = sqliteStore({ directory: data, program: "test" });
  const session = await Session.open(store, "old", { create: true, labels: { cwd: place.workspace } });
  await session.add("About trees");
  await session.notes.rename(`Deploy with ${SECRET}`);
  await session.close();
  await store.close();
  const shown: string[] = [];
  const run = async (...args: readonly string[]) => {
    const { stdout, stderr } = await banyan(place, args);
    shown.push(stdout, stderr);
  };
  for (const args of [
    ["list"],
    ["list", "-o", "json"],
    ["search", "trees"],
    ["search", "trees", "-o", "json"],
    ["show", "old"],
  ])
    await run("conversations", ...args);
  for (const format of ["json", "markdown", "html"]) await run("conversations", "export", "old", "-f", format);
  await using model = await modelServer({ text: "Yes." });
  const at = await editor(place, ["--model", "openai-compatible/test"], { env: model.env });
  shown.push(JSON.stringify(await at.agent.request(methods.agent.session.list, { cwd: place.workspace })));
  at.running.stdin.end();
  const [, address] = await serving(place, model.env);
  const client = await connected(address);
  const get = async (path: string) => {
    const answer = await fetch(`${address}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
    shown.push(await answer.text());
  };
  for (const query of ["", "?query=trees"]) await get(`/api/v1/conversations${query}`);
  shown.push(JSON.stringify(await client.ask("conversation.open", { named: "old" })));
  await client.watch("old").loaded;
  for (const format of ["json", "markdown", "html"]) await get(`/api/v1/conversations/old/export?format=${format}`);
  expect(shown.filter((text) => text.includes(SECRET))).toEqual([]);
  expect(shown.filter((text) => text.includes("Deploy with"))).toHaveLength(shown.filter((text) => text !== "").length);

  await client.ask("conversation.rename", { conversation: "old", title: `Now ${SECRET}` });
  await client.ask("conversation.export", { conversation: "old", format: "json" });
  const kept = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = kept.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
  expect(texts.some((text) => text.includes("Now [redacted:"))).toBe(true);
  expect(texts.filter((text) => text.includes(`Now ${SECRET}`))).toEqual([]);
});

test("F106: `conversations remove` names the texts that memory keeps, and the command that removes them", async () => {
  using place = home();
  await using model = await modelServer({ text: "Noted, the kettle is in the shed." });
  await banyan(place, ["config", "set", "memory.enabled", "true"]);
  const say = async (text: string, ...more: readonly string[]) => {
    const args = ["-p", text, "-o", "json", "--model", "openai-compatible/test", ...more];
    return JSON.parse((await banyan(place, args, { env: model.env })).stdout).conversation as string;
  };
  const [kept, forgotten] = [await say("The kettle is in the shed.", "--memory"), await say("What is red?")];
  const removed = await banyan(place, ["conversations", "remove", kept, "--yes"]);
  expect(removed.stdout).toMatch(
    new RegExp(
      `\\nMemory keeps 2 texts from this conversation\\. banyan memory clear --in ${kept} forgets what memory knows only from this conversation\\.\\n$`,
    ),
  );
  expect((await banyan(place, ["conversations", "remove", forgotten, "--yes"])).stdout).not.toContain("Memory");
  const cleared = await banyan(place, ["memory", "clear", "--in", kept, "--yes"]);
  expect(cleared).toMatchObject({ code: 0, stdout: "Forgot 2 entries.\n" });
});

test("F106: an import names the parts that this version does not know", async () => {
  using place = home();
  const head = { seq: 1, epoch: 1, at: 1 };
  const events = [
    { ...head, type: "conversation.created", id: "newer", labels: {} },
    { ...head, seq: 2, type: "moon.risen", phase: "full" },
    {
      ...head,
      seq: 3,
      type: "message.added",
      message: "m",
      parentId: null,
      role: "user",
      parts: [{ type: "text", text: "Look up." }, { type: "hologram" }],
    },
  ];
  const input = JSON.stringify({ format: "banyan-conversation", version: 1, events });
  const { code, stdout, stderr } = await banyan(place, ["conversations", "import", "-"], { input });
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr:
      "banyan: This version of Banyan does not understand 2 entries of the export, but keeps them: moon.risen (1), message.added with a part of type hologram (1).\n",
  });
  expect(stdout).toContain("Imported 1 message as newer.");
  expect((await banyan(place, ["conversations", "export", "newer"])).stdout).toContain("Look up.");
});
