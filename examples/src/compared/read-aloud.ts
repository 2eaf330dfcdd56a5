// A tool that says each sentence of the model's next message while the model writes it.
import { Agent, defineTool } from "@banyan/core";
import { openai } from "@banyan/models/openai";

const readAloud = defineTool({
  name: "read_aloud",
  description: "Says your next message aloud, sentence by sentence, as you write it.",
  input: { type: "object" },
  effects: "none",
  execute(_, context) {
    let unsaid = "";
    context.follow({
      text(delta) {
        const sentences = (unsaid + delta).split(/(?<=[.!?])\s/);
        unsaid = sentences.pop() ?? "";
        for (const sentence of sentences) console.log(`(aloud) ${sentence}`);
      },
      completed: () => console.log(`(aloud) ${unsaid}`),
    });
    return "Your next message is said aloud.";
  },
});
const agent = new Agent({ model: openai("gpt-5-mini"), tools: [readAloud] });
await agent.send("Read to me what a banyan is.");
