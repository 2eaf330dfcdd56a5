// A tool that speaks each sentence of the model's messages while the model still writes.
import { Agent, defineTool } from "@banyan/core";
import { call, scriptedModel, text } from "@banyan/core/testing";

const readAloud = defineTool({
  name: "read_aloud",
  description: "Says your next message aloud to the user, sentence by sentence, as you write it.",
  input: { type: "object" },
  effects: "none",
  execute(_, context) {
    let unsaid = "";
    const speak = (sentence: string) => console.log(`(aloud) ${sentence.trim()}`);
    context.follow({
      text(delta, kind) {
        if (kind !== "text") return; // Reasoning is not spoken.
        const sentences = (unsaid + delta).split(/(?<=[.!?])\s/);
        unsaid = sentences.pop() ?? "";
        sentences.forEach(speak);
      },
      completed() {
        if (unsaid !== "") speak(unsaid);
        return { again: true }; // Listen to the next message too.
      },
      restarted() {
        unsaid = ""; // The answer broke off and is requested again.
      },
      dropped(reason) {
        console.log(`(silence: ${reason})`);
      },
    });
    return "Your next messages are said aloud.";
  },
});

const model = scriptedModel([
  [call("read_aloud")],
  [text("A banyan is a fi", "g tree. Its branches put do", "wn roots. The roots", " become trunks.")],
]);
await new Agent({ model, tools: [readAloud] }).send("Read to me what a banyan is.");
