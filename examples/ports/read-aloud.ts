// AI SDK: a tool that says each sentence of the model's next message while the model writes it.
import { openai } from "@ai-sdk/openai";
import { isStepCount, streamText, tool } from "ai";
import { z } from "zod";

let listening = false;
let unsaid = "";
const read_aloud = tool({
  description: "Says your next message aloud, sentence by sentence, as you write it.",
  inputSchema: z.object({}),
  execute() {
    listening = true;
    return "Your next message is said aloud.";
  },
});
const { fullStream } = streamText({
  model: openai("gpt-5-mini"),
  tools: { read_aloud },
  prompt: "Read to me what a banyan is.",
  stopWhen: isStepCount(50),
});
for await (const part of fullStream) {
  if (part.type === "error") throw part.error;
  if (part.type === "text-delta" && listening) {
    const sentences = (unsaid + part.text).split(/(?<=[.!?])\s/);
    unsaid = sentences.pop() ?? "";
    for (const sentence of sentences) console.log(`(aloud) ${sentence}`);
  } else if (part.type === "finish-step" && unsaid !== "") {
    console.log(`(aloud) ${unsaid}`);
    listening = false;
  }
}
