import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { serving } from "../testing/serving.ts";

for (const [how, args, shown] of [
  ["that redraws", [], /^─ Reply to banyan: ─+\nare you there\?/],
  ["in plain lines", ["--plain"], "(you had written: are you there?)"],
] as const) {
  test.skipIf(!hasTmux)(
    `T5: who has no connection can leave a terminal ${how}, and what they had sent last is kept`,
    { timeout: 60_000 },
    async () => {
      using place = home();
      await using model = await modelServer({ text: "Hello to you." }, { text: "I am." });
      const [server] = await serving(place, model.env);
      {
        using pty = Pty.open(place, ["attach", "--new", ...args], model.env);
        await pty.prompted();
        pty.enter("hello");
        await pty.until("Hello to you.");
        await pty.prompted();
        server.kill("SIGKILL");
        await once(server, "exit");
        await pty.until("The connection was lost; trying again.");
        pty.enter("are you there?");
        pty.press("C-c");
        await pty.until("Ctrl-C again leaves, and keeps it.");
        pty.press("C-c");
        await pty.until("attach: banyan attach --resume");
        await pty.until("[exit 0]");
      }
      await serving(place, model.env);
      using pty = Pty.open(place, ["attach", ...args], model.env);
      await pty.until(shown);
      expect(model.asked).toHaveLength(1);
    },
  );
}

test.skipIf(!hasTmux)(
  "T31: without a connection, a signal ends the program while something is on its way",
  { timeout: 60_000 },
  async () => {
    using place = home();
    await using model = await modelServer();
    const [server] = await serving(place, model.env);
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    await pty.prompted();
    server.kill("SIGKILL");
    await pty.until("The connection was lost; trying again.");
    pty.enter("hello");
    await sleep(300);
    pty.kill("SIGTERM");
    await pty.until("[exit 143]");
  },
);
