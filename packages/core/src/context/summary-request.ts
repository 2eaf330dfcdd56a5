import { cutTo } from "../conversation/shown/visible-text.ts";
import { addCost, addUsage, type Cost, noUsage, type Usage } from "../conversation/usage.ts";
import { askModel, type ModelResponse } from "../model/ask-model.ts";
import { type ModelDriver, ModelError, type PromptMessage } from "../ports/model.ts";
import type { TurnRun } from "../run/run.ts";

const REQUEST = `Sum up the conversation above, so that you can go on without it. Write down all that still counts: what the person wants, in their words where these matter; what was decided, and why; what was found, with names, paths and numbers; which files were changed, and how; what is being done now, and what is left to do. Leave out what is settled and of no further use. Answer with the summary alone; call no tool.`;

/**
 * Asks for a text with the head of all requests of the turn, so that what was said is read from the provider's cache: for
 * Anthropic, whether tools may be called is part of that. A model that calls one all the same is asked again, and may not.
 * Each response is `counted`, also where the next one fails.
 */
export async function askForText(
  { agent, signal }: TurnRun,
  model: ModelDriver,
  messages: readonly PromptMessage[],
  counted: (response: ModelResponse) => void,
): Promise<ModelResponse> {
  const { instructions, toolbox, settings, retry } = agent;
  const request = { instructions: instructions.text, tools: toolbox.schemas, settings, messages };
  const ask = async (toolChoice: "auto" | "none") => {
    const response = await askModel(model, { ...request, toolChoice }, { signal, idle: retry.idle });
    counted(response);
    return response;
  };
  const first = await ask("auto");
  return first.finish === "calls" ? ask("none") : first;
}

/** What several responses took together. */
export function sumOf(responses: readonly ModelResponse[]): { readonly usage: Usage; readonly cost: Cost } {
  return {
    usage: responses.map(({ usage }) => usage).reduce(addUsage, noUsage),
    cost: responses.map(({ cost }) => cost).reduce(addCost, 0),
  };
}

/**
 * Asks for the summary of a prompt; of one that is too long even for that, with its results cut, and then of its newer
 * half.
 */
export async function summaryOf<Response>(
  prompt: readonly PromptMessage[],
  request: PromptMessage,
  ask: (messages: readonly PromptMessage[]) => Promise<Response>,
): Promise<Response> {
  const tries = [prompt, prompt.map(cutResults), prompt.map(cutResults).slice(-Math.ceil(prompt.length / 2))];
  for (const messages of tries) {
    try {
      return await ask([...messages, request]);
    } catch (error) {
      if (!(error instanceof ModelError) || error.code !== "context-overflow" || messages === tries.at(-1)) throw error;
    }
  }
  throw new Error("There is nothing to sum up.");
}

export function requestFor(wanted: string | undefined): PromptMessage {
  const text =
    wanted === undefined ? REQUEST : `${REQUEST} Above all, keep what the person asks you to keep:\n${wanted}`;
  return { role: "user", parts: [{ type: "text", text }] };
}

/** Characters of a call's result that a summary is made from when the whole is too long. */
const RESULT_SHOWN = 1_000;

function cutResults(message: PromptMessage): PromptMessage {
  if (message.role === "user") return message;
  const results = message.results.map((result) => ({
    ...result,
    output: cutTo(result.output, RESULT_SHOWN, " [...]"),
  }));
  return { ...message, results };
}
