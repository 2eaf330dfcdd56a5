import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer, type ServerAnswer } from "../testing/model-server.ts";
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
    await pty.until("Interrupted");
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
  "B40: who interrupts the task of --task, and chooses to chat, is not left when the agent answers",
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
    await pty.until("Interrupted");
    await pty.prompted();
    await pty.exchange("/mode chat", "Chat mode:");
    await pty.exchange("which colour?", "Blue, so far.");
    await pty.exchange("/mode task", "Task mode:");
    pty.enter("paint it");
    await pty.until("[exit 0]");
    expect(pty.screen()).toContain("Painted.");
  },
);
