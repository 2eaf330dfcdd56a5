import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { links } from "../testing/links.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { connected, serving, until } from "../testing/serving.ts";

const MODEL = ["--model", "openai-compatible/test"];
const REASON = "The turn reached the limit of 1 step.";

let place: Home;
beforeEach(() => {
  place = home();
  const config = join(place.env.BANYAN_HOME ?? "", "config");
  mkdirSync(config, { recursive: true });
  const settings = { limits: { steps: 1, policy: "ask" }, permissions: { allow: ["shell"] } };
  writeFileSync(join(config, "settings.json"), JSON.stringify(settings));
});
afterEach(() => place[Symbol.dispose]());

describe.skipIf(!hasTmux).each(links)(
  "F37: the terminal asks whether a turn may exceed its limit ($link)",
  ({ open }) => {
    test("in the full terminal, once for each time it is reached", async () => {
      await using server = await modelServer(shell("true"), shell("true"), { text: "Enough of it." });
      using pty = await open(place, MODEL, server.env);
      await pty.prompted();
      pty.enter("work");
      await pty.asked("Continue the turn until it reaches the same limit again?");
      expect(pty.screen()).toContain(REASON);
      expect(server.asked).toHaveLength(1);
      pty.enter("y");
      await pty.until("The turn continues until it reaches the same limits again.");
      await pty.until("The turn reached the limit of 2 steps.");
      await pty.asked("Continue the turn until it reaches the same limit again?");
      pty.enter("n");
      expect(await pty.until("Enough of it.")).toContain("The turn ends at its limit.");
      await pty.prompted();
      expect(JSON.stringify(server.asked.at(-1))).toContain("You cannot use tools any more");
    });

    test("in plain lines, where Ctrl-C ends the turn", async () => {
      await using server = await modelServer(shell("true"), { text: "On and on." }, shell("true"));
      using pty = await open(place, ["--plain", ...MODEL], server.env);
      await pty.prompted();
      pty.enter("work");
      await pty.until("Continue the turn until it reaches the same limit again?");
      pty.press("Enter");
      await pty.until("You have not decided yet.");
      pty.enter("1");
      await pty.until("On and on.");
      await pty.prompted();
      pty.enter("more");
      // Shown twice before: the first time nothing was decided.
      await pty.until("Continue the turn until it reaches the same limit again?", 3);
      pty.press("C-c");
      await pty.until("Stopped. Your turn.");
      await pty.prompted();
    });
  },
);

describe.skipIf(!hasTmux)("F37: the terminal asks whether a turn may exceed its limit", () => {
  test("at a server, clients that join later get the question too; the first answer closes it for all", async () => {
    await using model = await modelServer(shell("true"), { text: "On and on." });
    const [, address] = await serving(place, model.env);
    const remote = await connected(address);
    using terminal = Pty.open(place, ["attach", "--new", "--plain"], model.env);
    await terminal.prompted();
    terminal.enter("work");
    await terminal.until("Continue the turn until it reaches the same limit again?");
    const { conversation } = await remote.ask("conversation.open", {});
    const watched = await remote.watch(conversation).loaded;
    using full = Pty.open(place, ["attach", "--resume", conversation], model.env);
    expect(await full.asked("Continue the turn until it reaches the same limit again?")).toContain(REASON);
    full.enter("y");
    await terminal.until("On and on.");
    await full.until("On and on.");
    await until(watched, () => watched.state.runs.size === 0);
    await terminal.prompted();
    expect(await full.prompted()).not.toContain("May the agent continue");
  });
});

test("F37: print mode asks no user: it prints the answer so far and the limit, and exits with 3", async () => {
  await using server = await modelServer(shell("true"), { text: "As far as I came." });
  const { code, stdout, stderr } = await banyan(place, ["-p", "work", ...MODEL], server);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "As far as I came.\n" });
  expect(stderr).toContain("banyan: The turn reached ");
});
