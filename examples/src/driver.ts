// A model driver from scratch: it says back what it was told, word by word.
import { Agent, type ModelDriver, ModelError } from "@banyan/core";
import { noUsage } from "@banyan/core/conversation";
import type { PromptMessage } from "@banyan/core/drivers";

export function echoModel(): ModelDriver {
  return {
    id: "echo/words",
    family: "echo",
    price: { input: 0, output: 0 },
    async stream({ messages }, sink, signal) {
      const words = textOf(messages.at(-1)).match(/\S+\s*/g);
      if (!words) throw new ModelError("invalid-request", "There is nothing to echo; write some text.");
      for (const word of words) {
        signal.throwIfAborted();
        if (!sink.push([{ type: "text", text: word }])) await sink.ready();
      }
      signal.throwIfAborted();
      const usage = { ...noUsage, input: words.length, output: words.length };
      sink.push([{ type: "finish", reason: "stop", usage }]);
    },
  };
}

function textOf(message: PromptMessage | undefined): string {
  return message?.parts.map((part) => (part.type === "text" ? part.text : "")).join(" ") ?? "";
}

if (import.meta.main) {
  const turn = await new Agent({ model: echoModel() }).send("What you give is what you get.");
  console.log(turn.text, turn.usage.output, turn.cost);
}
