import { z } from "zod";
import { finishOf, openAiRequest, openAiTurn, partsOf, type Words } from "./openai-words.ts";
import type { Taken } from "./turn.ts";

export const chatRequest = z.object({
  ...openAiRequest,
  messages: z.array(openAiTurn).min(1),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});

/** How `/v1/chat/completions` says a turn; in this conversation, if the request names one. */
export function chatWords(data: z.infer<typeof chatRequest>, conversation: string | undefined): Words {
  const head = () => ({ created: Math.floor(Date.now() / 1000), model: data.model });
  return {
    // Where the conversation is known, so is what was said before.
    asking: () => ({
      conversation,
      parts: partsOf(conversation === undefined ? data.messages : data.messages.slice(-1)),
    }),
    whole: (id, taken) => ({
      ...{ id: `chatcmpl-${id}`, object: "chat.completion", ...head(), usage: usageOf(taken) },
      choices: [
        {
          ...{ index: 0, finish_reason: finishOf(taken), logprobs: null },
          message: { role: "assistant", content: taken.texts.join("\n\n"), refusal: null },
        },
      ],
    }),
    streamed: (id, send) => {
      let last: string | undefined;
      const chunk = (more: object) =>
        send({ id: `chatcmpl-${id}`, object: "chat.completion.chunk", ...head(), ...more });
      const say = (delta: object, finish_reason: string | null = null) =>
        chunk({ choices: [{ index: 0, delta, finish_reason }] });
      say({ role: "assistant", content: "" });
      return {
        hear: (heard) => {
          if (heard.type === "abandoned") return;
          if (heard.type === "reasoning") return say({ reasoning_content: heard.text });
          // Two answers of one turn are two paragraphs.
          say({ content: last === undefined || last === heard.message ? heard.text : `\n\n${heard.text}` });
          last = heard.message;
        },
        end: (taken) => {
          say({}, finishOf(taken));
          if (data.stream_options?.include_usage) chunk({ choices: [], usage: usageOf(taken) });
        },
        fail: (problem) => send(problem),
        last: "[DONE]",
      };
    },
  };
}

function usageOf({ usage }: Taken) {
  return {
    ...{ prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output },
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
