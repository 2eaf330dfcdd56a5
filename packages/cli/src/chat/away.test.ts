import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

/** The terminal's report of a lost focus. */
const AWAY = "\x1b[O";

/** Bells for the user, without the end of a query to the terminal. */
const bells = (written: string) => written.replaceAll("\x1b]11;?\x07", "").split("\x07").length - 1;

// Takes seconds, and needs a real terminal.
test.skipIf(!hasTmux || process.env.BANYAN_LONG !== "1")(
  "C2: a person who looks elsewhere is called by the bell when a call waits for them",
  async () => {
    using place = home();
    const gate = Promise.withResolvers<void>();
    const ask = (command: string) => [{ tool: "shell", input: { command } }];
    await using server = await modelServer(
      { text: ["Look", "ing."], calls: ask("touch a"), held: gate.promise },
      { calls: ask("touch b") },
    );
    using pty = Pty.open(place, ["--model", "openai-compatible/test"], server.env);
    await pty.prompted();
    pty.enter("go");
    await pty.until("Look");
    pty.type(AWAY);
    gate.resolve();
    await pty.until("touch a");
    await expect.poll(async () => bells(await pty.written("touch a"))).toBe(1);
    // An answer shows that the user is looking.
    await pty.asked();
    pty.press("y", "Enter");
    await pty.until("touch b");
    await pty.asked();
    expect(bells(await pty.written("touch b"))).toBe(1);
  },
);
