import { roughCount } from "../context/tokens.ts";
import type { UserContent } from "../conversation/checked/user-content.ts";
import { errorMessage } from "../conversation/error-message.ts";
import { OptionError, type OptionNames, refuseUnknown } from "../conversation/option-names.ts";
import type { ModelRequest } from "../ports/model.ts";
import { RunBranch } from "../run/branch.ts";
import type { TurnAgent } from "../run/run.ts";
import { checkedUserParts } from "../session/added-message.ts";
import { Session } from "../session/session.ts";
import { checkSession, checkSignal, knownPath } from "./chat-options.ts";
import { continuationLeaf } from "./directive.ts";

/** Options of `agent.countTokens`. */
export interface CountTokensOptions {
  /** The conversation to which the content would be added. Default: an empty conversation. */
  readonly session?: Session | undefined;
  /** The message after which the content would be added. Default: the branch with the newest message. */
  readonly at?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const OPTIONS: OptionNames<CountTokensOptions> = { session: "object", at: "string", signal: "object" };

/** The tokens of a request. */
export interface RequestTokens {
  readonly tokens: number;
  /** `provider`: an endpoint of the provider counted the tokens. `estimate`: one token for four bytes of text. */
  readonly source: "provider" | "estimate";
  /** The reason for an estimate: the provider has no endpoint, or the endpoint failed. */
  readonly reason?: string;
}

/** Counts the tokens of a request with the content. The model is not asked for an answer. */
export async function countRequestTokens(
  first: TurnAgent,
  content: UserContent,
  options: CountTokensOptions,
): Promise<RequestTokens> {
  refuseUnknown("countTokens", options, OPTIONS);
  const { session = Session.inMemory(), at, signal = new AbortController().signal } = options;
  checkSession("countTokens", session);
  checkSignal("countTokens", signal);
  const parts = checkedUserParts(content);
  const branch = new RunBranch(session, continuationLeaf(session.state, at));
  const agent = first.holderOn(await knownPath(session, branch.path)) ?? first;
  const { model, instructions, toolbox, settings, mode } = agent;
  if ("run" in model)
    throw new OptionError(`${model.id} manages its own context, so the tokens of its requests cannot be counted.`);
  const request: ModelRequest = {
    instructions: instructions.text,
    messages: [...branch.prompt(), { role: "user", parts }],
    tools: toolbox.schemas,
    toolChoice: "auto",
    settings,
    output: mode.output?.schema,
  };
  let reason = `${model.id} has no endpoint that counts tokens.`;
  try {
    const tokens = await model.countTokens?.(request, signal);
    if (tokens !== undefined) return { tokens, source: "provider" };
  } catch (error) {
    signal.throwIfAborted();
    reason = errorMessage(error);
  }
  return { tokens: roughCount(request.messages, agent), source: "estimate", reason };
}
