import { openHost } from "@banyan/host";
import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { links } from "../testing/links.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux } from "../testing/pty.ts";

test.skipIf(!hasTmux).each(links)(
  "F37: a log that fails during an answer ends the turn on the screen, and the next message opens the log again ($link)",
  async ({ open }) => {
    using place = home();
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await using server = await modelServer(
      { text: "Hello to you." },
      { text: ["It begins, ", "and ends."], held },
      { text: "Here I am." },
    );
    using pty = await open(place, ["--model", "openai-compatible/test"], server.env);
    await pty.prompted();
    await pty.exchange("hello", "Hello to you.");
    pty.enter("and now?");
    await pty.until("It begins,");
    // Makes the next write fail, as a full disk does.
    const flags = { model: "demo/offline" };
    const host = await openHost({
      cwd: place.workspace,
      env: place.env,
      home: place.env.HOME ?? "",
      flags,
      canAsk: false,
    });
    const { store } = host;
    const [conversation] = await store.list();
    const taken = await store.open(conversation?.id ?? "", { take: true });
    release();
    await pty.until("The conversation could not be written:");
    const screen = await pty.prompted();
    // The reason, once, then the consequence.
    expect(
      screen.match(
        /could not be written|Your next message reopens the conversation, with everything that was saved\./g,
      ),
    ).toEqual(["could not be written", "Your next message reopens the conversation, with everything that was saved."]);
    expect(screen).not.toMatch(/Esc to stop/);
    await taken.close();
    await host.close();
    expect(await pty.exchange("are you there?", "Here I am.")).toContain("Here I am.");
    expect(JSON.stringify(server.asked[2])).toContain("Hello to you.");
    pty.press("C-d");
    await pty.until(`--resume ${conversation?.id}`);
  },
);
