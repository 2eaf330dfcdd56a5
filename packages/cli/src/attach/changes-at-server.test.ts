import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer, write } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { connected, serving, until } from "../testing/serving.ts";

test.skipIf(!hasTmux)(
  "T43: /undo at a server takes back there what the last call did to files, once; the agent is told, and others see it",
  async () => {
    using place = home();
    await using model = await modelServer(
      write("oak.txt", "tall\n"),
      { text: "Planted." },
      write("fig.txt", "small\n"),
      { text: "And a fig." },
      { text: "I see." },
    );
    const [, address] = await serving(place, model.env, "--approval", "edits");
    const remote = await connected(address);
    const made = () => ["oak.txt", "fig.txt"].map((name) => existsSync(join(place.workspace, name)));
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    await pty.exchange("/undo", "No call on this branch has changed a file, or the changes are already undone.");
    await pty.exchange("plant an oak", "Planted.");
    await pty.exchange("plant a fig", "And a fig.");
    const { conversation } = await remote.ask("conversation.open", {});
    using other = Pty.open(place, ["attach", "--plain", "--resume", conversation], model.env);
    await other.prompted();
    using third = Pty.open(place, ["attach", "--resume", conversation], model.env);
    await third.prompted();

    const screen = await pty.exchange("/undo", "Your next message also tells the agent about the undone changes.");
    expect(screen).toMatch(/^Undone: .*fig\.txt.*\n.*- ?small/m);
    // The undo was shown at once, so it is not shown again.
    expect(screen.match(/deleted fig\.txt/g)).toHaveLength(1);
    expect(screen).not.toContain("The user undid");
    for (const each of [other, third]) await each.until("deleted fig.txt");
    expect(made()).toEqual([true, false]);
    writeFileSync(join(place.workspace, "oak.txt"), "mine\n");
    await pty.exchange("/undo", /^Not undone: oak\.txt was changed again afterwards/);
    expect(made()).toEqual([true, false]);

    await pty.exchange("go on", "I see.");
    const said = model.asked[4]?.slice(-2).map(({ content }) => content);
    expect(said).toEqual([
      expect.stringMatching(/^The user undid file changes\. .*\n- fig\.txt is not there any more$/),
      "go on",
    ]);
  },
);

const ANSWERS = ["Red, because ".padEnd(2_000, "it is warm, "), "Round.", "Large.", "Heavy."].map((text) => ({ text }));

test.skipIf(!hasTmux)(
  "T43: /compact at a server compacts the conversation there; Ctrl-C stops only the compaction",
  async () => {
    using place = home();
    await using model = await modelServer(
      ...ANSWERS,
      { text: "Red is", stalls: true },
      { text: "Still here", stalls: true },
      { text: "Red is liked." },
      { text: "Yes." },
    );
    const [, address] = await serving(place, model.env);
    const remote = await connected(address);
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    await pty.exchange("/compact", "There are no messages yet.");
    for (const { text } of ANSWERS) await pty.exchange("what is it like?", text.slice(0, 5));
    const watched = await remote.watch((await remote.ask("conversation.open", {})).conversation).loaded;
    const [first = ""] = watched.state.messages.keys();

    pty.enter("/compact the colour");
    await pty.until("Compacting. Ctrl-C stops it.");
    await expect.poll(() => model.asked.length).toBe(5);
    expect(JSON.stringify(model.asked[4]?.at(-1))).toContain(
      "follow these instructions of the user for the summary:\\nthe colour",
    );
    // Another client lets the agent work on another branch.
    const parts = [{ type: "text", text: "or else?" }] as const;
    await remote.ask("turn.say", { conversation: watched.id, at: first, parts });
    await expect.poll(() => model.asked.length).toBe(6);
    pty.press("C-c");
    await pty.until("Not compacted: interrupted by the user");
    expect(await remote.ask("run.interrupt", { conversation: watched.id })).toEqual({ interrupted: 1 });
    await until(watched, () => watched.state.runs.size === 0);
    await pty.prompted();

    await pty.exchange("/branch Heavy", "Your next message continues from here.");
    await pty.exchange(
      "/compact",
      /Compacted \d+ messages: from about [\d,]+ to [\d,]+ tokens\nAll messages stay in the tree\./,
    );
    await pty.exchange("is it so?", "Yes.");
    const said = JSON.stringify(model.asked.at(-1));
    expect(said).toMatch(/Red is liked\..*Heavy\..*is it so\?/);
    expect(said).not.toContain("it is warm");
  },
);
