import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { links } from "../testing/links.ts";
import { modelServer, type ServerAnswer, shell } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";

const MODEL = ["--model", "openai-compatible/test"];
const finishes = (result: string): ServerAnswer => ({ calls: [{ tool: "finish_task", input: { result } }] });
const STATUS = { chat: /^chat · /, task: /^task · / };

test.skipIf(!hasTmux)(
  "B40: a task that was begun with hands over to a chat when it is finished, not before; /mode task stays until /mode chat",
  async () => {
    using place = home();
    await using model = await modelServer(
      { text: "I begin", stalls: true },
      finishes("Painted."),
      { text: "You are welcome." },
      finishes("Painted twice."),
      finishes("Painted thrice."),
      { text: "Enough, then." },
    );
    using pty = Pty.open(place, ["--task", "paint it", "--chat-mode", ...MODEL], model.env);
    await pty.until("I begin");
    pty.press("C-c");
    await pty.until("Stopped. Your turn.");
    await pty.prompted();
    await pty.until(STATUS.task);
    await pty.exchange("go on", "Painted.");
    await pty.until(STATUS.chat);
    await pty.exchange("thanks", "You are welcome.");
    await pty.exchange("/mode task", "Task mode:");
    for (const result of ["Painted twice.", "Painted thrice."]) {
      await pty.exchange("once more", result);
      await pty.until(STATUS.task);
    }
    await pty.exchange("/mode chat", "Chat mode:");
    await pty.exchange("enough", "Enough, then.");
    await pty.until(STATUS.chat);
    expect(model.asked).toHaveLength(6);
  },
);

test.skipIf(!hasTmux)(
  "B40: after an interrupted --task and a choice to chat, banyan stays open when the agent answers",
  async () => {
    using place = home();
    await using model = await modelServer(
      { text: "I begin", stalls: true },
      { text: "Blue, so far." },
      finishes("Painted."),
    );
    using pty = Pty.open(place, ["--task", "paint it", ...MODEL], model.env);
    await pty.until("I begin");
    pty.press("C-c");
    await pty.until("Stopped. Your turn.");
    await pty.prompted();
    await pty.exchange("/mode chat", "Chat mode:");
    await pty.exchange("which colour?", "Blue, so far.");
    await pty.exchange("/mode task", "Task mode:");
    pty.enter("paint it");
    await pty.until("[exit 0]");
    expect(pty.screen()).toContain("Painted.");
  },
);

test.skipIf(!hasTmux).each(links)(
  "T54, W35: /permissions lists and revokes the rules of this conversation ($link)",
  async ({ open }) => {
    using place = home();
    const command = "touch made.txt";
    await using model = await modelServer(shell(command), { text: "Made." }, shell(command), { text: "Made again." });
    using pty = await open(place, MODEL, model.env);
    await pty.prompted();
    await pty.exchange("/permissions drop 1", "This conversation has no rules of its own.");
    pty.enter("make it");
    await pty.asked();
    pty.press("a", "Enter");
    await pty.until("Made.");
    await pty.prompted();
    await pty.exchange("/permissions", /^ {2}1 {2}shell\(touch \[harmless\]\)$/);
    await pty.exchange("/permissions drop 2", "Give the number of a rule, as in /approval drop 1.");
    await pty.exchange(
      "/permissions drop 1",
      "The agent asks you again before calls that match shell(touch [harmless]).",
    );
    pty.enter("make it again");
    await pty.asked();
    pty.press("y", "Enter");
    await pty.until("Made again.");
  },
);
