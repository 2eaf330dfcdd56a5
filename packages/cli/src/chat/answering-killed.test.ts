import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { killedWhileDenying } from "../testing/killed-while-denying.ts";
import { modelServer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

test.skipIf(!hasTmux)(
  "T19: in plain lines, an answer begun elsewhere is printed, and again if it is not used",
  async () => {
    using place = home();
    await using server = await modelServer(shell("true"), { text: "Well." });
    const model = ["--model", "openai-compatible/test"];
    {
      using pty = Pty.open(place, model, server.env);
      await killedWhileDenying(pty, "it is");
    }
    using pty = Pty.open(place, ["--plain", "--continue", ...model], server.env);
    await pty.until("(you had written: n it is)");
    await pty.until(/^Allow this\?$/);
    pty.enter("1");
    expect(await pty.until("Well.")).toContain("Not sent: it is\n");
  },
);

/** Waits until a question accepts keys, and begins the answer. */
async function begins(pty: Pty): Promise<void> {
  await pty.until("Press Enter to write your answer");
  await pty.begins();
}

test.skipIf(!hasTmux).for([
  {
    what: "an answer",
    calls: [{ tool: "ask_client", input: { question: "Which colour?" } }],
    card: /^─ Your answer: ─+\n([a-z]*)$/m,
    asked: begins,
    again: begins,
    sent: "",
  },
  {
    what: "a reason",
    calls: [{ tool: "shell", input: { command: "touch made.txt" } }],
    card: /^Reason \(optional\):(?: ([a-z]*))?$/m,
    asked: async (pty: Pty) => {
      await pty.asked();
      pty.press("n", "Enter");
      await pty.until("Reason (optional):");
    },
    again: async (pty: Pty) => {
      await pty.asked();
      pty.press("n", "Enter");
    },
    sent: "The user denied this call: ",
  },
  {
    what: "arguments",
    calls: [{ tool: "shell", input: { command: "touch made.txt" } }],
    card: /^touch made\.txt([a-z]*)$/m,
    asked: async (pty: Pty) => {
      await pty.asked();
      pty.press("e", "Enter");
      await pty.until("command of shell:");
    },
    again: begins,
    sent: undefined,
  },
])(
  "T19: what is on the screen in $what when the process is killed, at any key, is there when that is asked again",
  async ({ calls, card, asked, again, sent }) => {
    using place = home();
    await using server = await modelServer({ calls }, { text: "Well." });
    const model = ["--model", "openai-compatible/test"];
    const written = (screen: string) => card.exec(screen)?.[1] ?? "";
    let [before, typed] = ["", ""];
    for (const more of ["keyabcde", "fghijklmn", "opqrstuvwxyz"]) {
      using pty = Pty.open(place, [...(before === "" ? [] : ["--continue"]), ...model], server.env);
      if (before === "") {
        await pty.prompted();
        // Only an agent in task mode can ask questions.
        pty.enter("/mode task");
        await pty.until("Task mode:");
        pty.enter("go");
        await asked(pty);
      } else await again(pty);
      const kept = written(await pty.until(card));
      // The stored text may be ahead of the screen.
      expect(kept.startsWith(before) && typed.startsWith(kept)).toBe(true);
      before = kept;
      typed = kept + more;
      // A question accepts keys after a pause.
      await sleep(400);
      pty.type(more);
      await pty.until(`${before}${more.slice(0, 3 + Math.random() * (more.length - 3))}`);
      pty.kill("SIGKILL");
      const shown = /key[a-z]*/.exec(await pty.until("[exit 137]"))?.[0] ?? "";
      expect(shown.startsWith(before) && typed.startsWith(shown)).toBe(true);
      before = shown;
    }
    using pty = Pty.open(place, ["--continue", ...model], server.env);
    await again(pty);
    before = written(await pty.until(card));
    expect(server.asked).toHaveLength(1);
    await sleep(400);
    if (sent === undefined) {
      pty.press("C-c");
      await pty.until(`Your answer was not sent. It is in the input history: touch made.txt${before}`);
    } else {
      pty.enter(", that is");
      await pty.until("Well.");
      expect(JSON.stringify(server.asked[1]?.at(-1))).toContain(`${sent}${before}, that is`);
    }
  },
);
