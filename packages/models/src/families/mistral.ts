import type { LanguageModelRequest } from "@banyan/core/ai-sdk";
import { CallIds } from "./call-ids.ts";

type Message = LanguageModelRequest["prompt"][number];

const SEEN: Message = { role: "assistant", content: [{ type: "text", text: "I have seen the results." }] };

/**
 * What Mistral needs of a request: ids of calls that are nine letters and digits, and between the results of calls and
 * what a user says an answer, as when a turn was interrupted or ends at a limit.
 */
export function adaptForMistral(): (request: LanguageModelRequest) => LanguageModelRequest {
  const ids = new CallIds(/^[A-Za-z0-9]{9}$/);
  return (request) => {
    const repaired = ids.repair(request);
    const prompt = repaired.prompt.flatMap((message, index) =>
      message.role === "user" && repaired.prompt[index - 1]?.role === "tool" ? [SEEN, message] : [message],
    );
    return { ...repaired, prompt };
  };
}
