import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { links } from "../testing/links.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux } from "../testing/pty.ts";

test.skipIf(!hasTmux).each(links)(
  "S41: a question, /sandbox and /status say what holds commands ($link)",
  async ({ open }) => {
    using place = home();
    await using server = await modelServer(shell("touch a.txt"), { text: "Done." });
    const settings = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
    const env = { ...server.env, BANYAN_SANDBOX: "auto" };
    using pty = await open(place, ["--model", "openai-compatible/test"], env);
    await pty.prompted();
    await pty.exchange("/sandbox", /Commands run in a sandbox: they write only in the workspace, and reach only/);
    pty.enter("go");
    const asked = await pty.asked("Allow this?");
    expect(asked).toContain("In the sandbox: no network, writes only in this folder");
    pty.press("y", "Enter");
    await pty.until("Done.");
    await pty.prompted();
    await pty.exchange("/status", /sandbox +Commands run in a sandbox/);
    await pty.exchange("/sandbox drop example.org", "example.org is not among the addresses.");
    expect(() => readFileSync(settings)).toThrow("ENOENT");
  },
);
