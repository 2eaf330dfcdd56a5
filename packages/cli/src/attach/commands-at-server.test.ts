import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromJson } from "@banyan/host/exchange";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, home } from "../testing/banyan.ts";
import { modelServer, type ServerAnswer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { connected, serving } from "../testing/serving.ts";

const finishes = (result: string): ServerAnswer => ({ calls: [{ tool: "finish_task", input: { result } }] });

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

describe.skipIf(!hasTmux)("commands of a terminal in a server's conversation", () => {
  test("B40: /mode task has the server work until a task is finished, /mode chat ends that; the status says which", async () => {
    await using model = await modelServer(
      finishes("Painted."),
      { text: "Red ", stalls: true },
      finishes("Painted red."),
      { text: "You are welcome." },
    );
    const [, address] = await serving(place, model.env);
    const remote = await connected(address);
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    await pty.exchange("/mode", "Chat mode:");
    await pty.exchange("/mode task", "Task mode:");
    await pty.exchange("paint it", "Painted.");
    expect(await pty.until(/^task · /)).not.toMatch(/^chat · /m);
    pty.enter("in red");
    await pty.until(/^Red/);
    pty.press("C-c");
    await pty.until("Stopped. Your turn.");
    await pty.prompted();
    await pty.exchange("/retry", "Painted red.");
    await pty.exchange("/mode chat", "Chat mode:");
    await pty.until(/^chat · /);
    await pty.exchange("thanks", "You are welcome.");
    const { conversation } = await remote.ask("conversation.open", {});
    const { text } = await remote.ask("conversation.export", { conversation, format: "json" });
    const modes = fromJson(text).events.flatMap((event) => (event.type === "run.started" ? [event.mode] : []));
    expect(modes).toEqual(["task", "task", "task", "chat"]);
  });

  test("T12: /approval holds for everybody at the server, and is said once; Shift+Tab goes on from there", async () => {
    await using model = await modelServer();
    const [, address] = await serving(place, model.env);
    const remote = await connected(address);
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    await pty.exchange("/approval", "Approval: the agent reads freely, and asks before edits and commands.");
    await pty.exchange(
      "/approval edits",
      "Approval: the agent edits files here without asking, and asks before commands.",
    );
    expect((await pty.until("edits freely")).match(/edits files here without asking/g)).toHaveLength(1);
    await expect.poll(() => remote.welcome.settings.approval).toBe("edits");
    await pty.exchange("/approval never", "Choose a mode. ask: calls that only read run without asking");
    using late = Pty.open(place, ["attach", "--new"], model.env);
    expect(await late.prompted()).toContain(
      "Approval: the agent edits files here without asking, and asks before commands.",
    );
  });

  test("S27: nothing is asked in one conversation of a server, once its person has typed yes; elsewhere all is as it was", async () => {
    await using model = await modelServer({ text: "Hello." });
    const [, address] = await serving(place, model.env);
    const remote = await connected(address);
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    await pty.exchange("hello", "Hello.");
    pty.enter("/approval all");
    await pty.until("Type yes to run everything without asking:");
    pty.press("Enter");
    await pty.answers("no");
    await pty.until("Approval is unchanged.");
    expect(remote.welcome.settings).toMatchObject({ approval: "ask", unasked: [] });
    await pty.prompted();
    pty.enter("/approval all");
    await pty.until("Type yes to run everything without asking:");
    await pty.answers("yes");
    await pty.until("Approval: the agent runs everything in this conversation without asking.");
    await pty.until("never asks");
    await expect.poll(() => remote.welcome.settings.unasked).toHaveLength(1);
    expect(remote.welcome.settings.approval).toBe("ask");
    const conversation = remote.welcome.settings.unasked[0] ?? "";
    const { conversation: other } = await remote.ask("conversation.create", {});
    for (const unsaid of [{}, { conversation: other }, { conversation: other, confirmed: false }])
      await expect(remote.ask("approval.use", { mode: "all", ...unsaid })).rejects.toThrow("Approval 'all'");
    expect(remote.welcome.settings.unasked).toEqual([conversation]);
  });

  test("T54: /title, /context, /memory, /status, /config and /export show the server's conversation and its branches", async () => {
    await using model = await modelServer({ text: "One." }, { text: "Two." });
    const [, address] = await serving(place, model.env);
    const remote = await connected(address);
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    await pty.exchange("/context", /^instructions .*\n(.*\n)* +all +\d/);
    await pty.exchange("hello", "One.");
    await pty.exchange("/retry", "Two.");
    await pty.until(/^chat · .* branch 2\/2/);
    await pty.exchange("/title Of oaks", "The title is now “Of oaks”.");
    expect(await remote.ask("conversation.open", {})).toMatchObject({ title: "Of oaks" });
    await pty.exchange(
      "/context",
      /^conversation +messages.*\n(.*\n)* +all +\d.*\nSizes are in tokens\. The sign ~ marks an estimate\./,
    );
    await pty.exchange("/memory", "No memories were recalled on this branch.");
    await pty.exchange(
      "/status",
      /conversation +\w+: “Of oaks”, 2 messages .*\n.*branch +2 of 2\n(.*\n)*.*file +at the server/,
    );
    await pty.exchange("/config", /^These are your own settings\. While you use a server, only your settings for keys/);
    await pty.exchange("/export oaks.md", /^Written: \/.*oaks\.md$/);
    expect(readFileSync(join(place.workspace, "oaks.md"), "utf8")).toContain("Two.");
  });

  test("T13, T14: the person's own keys count there too, and # completes to messages of the conversation", async () => {
    await using model = await modelServer({ text: "One." });
    await serving(place, model.env);
    const config = join(place.env.BANYAN_HOME ?? "", "config");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "settings.json"), JSON.stringify({ keys: { send: ["f5"] } }));
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    pty.type("hello");
    pty.press("F5");
    await pty.until("One.");
    await pty.prompted();
    pty.type("/edit #");
    await pty.until(/#1 +you: hello/i);
  });
});

describe.skipIf(!hasTmux)("S29: /share at a server", () => {
  test("makes, lists and revokes a link that opens only this conversation", async () => {
    await using model = await modelServer({ text: "I see." });
    const [, address] = await serving(place, model.env);
    using pty = Pty.open(place, ["attach", "--new", "--plain"]);
    await pty.prompted();
    pty.enter("/share");
    await pty.until("There are no messages yet.");
    pty.enter("look");
    await pty.until("I see.");
    pty.enter("/share here 2d");
    const told = await pty.until("revokes it. The link is shown only this time.");
    const link = told.replaceAll(/\s*\n\s*/g, "").match(/http:\/\/127\.0\.0\.1:\d+\/\?token=([\w-]{43})/);
    expect(link?.[0]).toContain(address);
    const [, id = ""] = /\/share revoke (\w+)/.exec(told) ?? [];
    const visitor = await connected(address, link?.[1]);
    expect(visitor.welcome.rights).toEqual(["show"]);
    pty.enter("/share list");
    await pty.until(`${id}  a branch, until `);
    pty.enter(`/share revoke ${id}`);
    await pty.until("The link no longer works.");
    pty.enter("/share list");
    await pty.until("This conversation has no links.");
    pty.enter("/share tomorrow");
    await pty.until("Write /share or /share here, and a time such as 30m, 12h or 2d");
  });
});
