import { expect, test } from "vitest";
import { home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { serving } from "../testing/serving.ts";

const asks = { calls: [{ tool: "ask_client", input: { question: "Which colour?" } }] };
const finishes = { calls: [{ tool: "finish_task", input: { result: "Painted." } }] };
const MODEL = ["--model", "openai-compatible/test"];

for (const where of ["here", "at a server"] as const) {
  test.skipIf(!hasTmux)(
    `B24: a task that was interrupted by the end of the process goes on as a task, and still asks (${where})`,
    async () => {
      using place = home();
      await using model = await modelServer(asks, finishes, { text: "Green." });
      {
        using pty = Pty.open(place, ["--task", "paint it", "--chat-mode", ...MODEL], model.env);
        await pty.until("Your answer:");
        pty.kill("SIGKILL");
        await pty.until("[exit 137]");
      }
      if (where === "at a server") await serving(place, model.env);
      using pty = Pty.open(place, where === "here" ? ["--continue", ...MODEL] : ["attach"], model.env);
      await pty.until("Which colour?");
      await pty.until("Your answer:");
      await pty.answers("green");
      await pty.until("Painted.");
      expect(JSON.stringify(model.asked[1])).toContain("green");
      // A chat has no such tool (B38). The status line with the mode shows the question's keys meanwhile (T46).
      expect(JSON.stringify(model.asked[1])).toContain("finish_task");
      // The next message is a chat turn again.
      await pty.until(/^chat · /);
    },
  );
}
