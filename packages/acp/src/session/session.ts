import {
  type AgentCapabilities,
  type ClientContext,
  type ContentBlock,
  type ForkSessionResponse,
  methods,
  RequestError,
  type SessionConfigOption,
} from "@agentclientprotocol/sdk/unstable";
import { ModelError } from "@banyan/core";
import type { LoopTurn, PromptMessage } from "@banyan/core/drivers";
import type { AcpAgent } from "../connection/options.ts";
import { type Marker, markersIn } from "./marker.ts";
import { agentPrompt } from "./prompt.ts";

/** Maximum sessions that an agent keeps per path, for branches. Older sessions are deleted if the agent supports it. */
const KEPT = 8;

/** An agent's session that is ready for a prompt. */
export interface ReadySession {
  readonly id: string;
  readonly prompt: ContentBlock[];
  /** US dollars that a resumed session had cost before this turn; undefined for new and forked sessions. */
  readonly spent: number | undefined;
}

/**
 * Chooses the agent's session for a turn. An agent that can fork forks the session of its last response on the branch.
 * An agent that can only resume or load continues that session, unless another branch used the session last. Otherwise
 * a new session gets the whole history. The prompt includes messages that another model added since the last response.
 */
export async function readySession(
  agent: AcpAgent,
  {
    agentCapabilities: can = {},
    connection,
  }: { readonly agentCapabilities?: AgentCapabilities; readonly connection: ClientContext },
  turn: LoopTurn,
): Promise<ReadySession> {
  const { messages, branched } = turn;
  const markers = markersIn(messages, agent.id);
  const last = markers.at(-1);
  const blocks = can.promptCapabilities ?? {};
  if (last) {
    const continued = await continuedSession(agent, connection, can, last.marker, branched);
    if (continued) {
      await chooseEffort(agent, connection, continued);
      closeOldSession(connection, can, markers.at(-KEPT)?.marker);
      const prompt = agentPrompt({ instructions: "", ...splitAtUserMessage(messages.slice(last.at + 1)) }, blocks);
      return { id: continued.id, spent: continued.spent, prompt };
    }
  }
  const begun = await connection.request(methods.agent.session.new, { cwd: agent.cwd, mcpServers: [] });
  const { sessionId } = begun;
  await chooseEffort(agent, connection, { id: sessionId, ...begun });
  const instructions = agent.instructions === false ? "" : turn.instructions;
  return {
    id: sessionId,
    prompt: agentPrompt({ instructions, ...splitAtUserMessage(messages) }, blocks),
    spent: undefined,
  };
}

function splitAtUserMessage(messages: readonly PromptMessage[]): {
  readonly before: readonly PromptMessage[];
  readonly now: readonly PromptMessage[];
} {
  const at = messages.findLastIndex(({ role }) => role === "assistant") + 1;
  return { before: messages.slice(0, at), now: messages.slice(at) };
}

/** Continues a session of the agent. Returns undefined if the agent has lost the session or cannot continue it. */
async function continuedSession(
  { cwd }: AcpAgent,
  connection: ClientContext,
  { sessionCapabilities: { fork, resume } = {}, loadSession }: AgentCapabilities,
  { session, cost }: Marker,
  branched: boolean,
): Promise<(Omit<ReadySession, "prompt"> & OfferedOptions) | undefined> {
  const known = { sessionId: session, cwd, mcpServers: [] };
  try {
    if (fork) {
      const { sessionId, configOptions } = await connection.request<ForkSessionResponse>(
        methods.agent.session.fork,
        known,
      );
      return { id: sessionId, spent: undefined, configOptions };
    }
    if (branched || !(resume || loadSession)) return undefined;
    const { resume: again, load } = methods.agent.session;
    const { configOptions }: OfferedOptions = resume
      ? await connection.request(again, known)
      : await connection.request(load, known);
    return { id: session, spent: cost, configOptions };
  } catch (error) {
    // The session was removed, or belongs to another folder or machine. A new session gets the history.
    if (error instanceof RequestError) return undefined;
    throw error;
  }
}

interface OfferedOptions {
  readonly configOptions?: readonly SessionConfigOption[] | null | undefined;
}

/**
 * Sets the reasoning effort of a session. Rejects with a `ModelError` if the agent does not offer the effort, because
 * another effort could cost more.
 */
async function chooseEffort(
  { name, effort }: AcpAgent,
  connection: ClientContext,
  { id: sessionId, configOptions }: OfferedOptions & { readonly id: string },
): Promise<void> {
  if (effort === undefined) return;
  const option = configOptions?.find(({ category, type }) => category === "thought_level" && type === "select");
  const values =
    option?.type === "select" ? option.options.flatMap((each) => ("group" in each ? each.options : each)) : [];
  const chosen = values.find(({ value, name: called }) => value === effort || called.toLowerCase() === effort);
  if (!option || !chosen) {
    const known = values.map(({ value }) => value).join(", ");
    const sentence =
      known === ""
        ? "The agent has no effort levels. Name the model without a colon and an effort."
        : `Add a colon and one of these efforts to the model name: ${known}.`;
    throw new ModelError("invalid-request", `The agent "${name}" has no effort "${effort}". ${sentence}`, {
      retryable: false,
    });
  }
  if (option.type === "select" && option.currentValue === chosen.value) return;
  const configId = option.id;
  await connection.request(methods.agent.session.setConfigOption, { sessionId, configId, value: chosen.value });
}

/** Deletes a session so old that only a branch from far back would fork it. Such a branch starts a new session. */
function closeOldSession(
  connection: ClientContext,
  { sessionCapabilities }: AgentCapabilities,
  old: Marker | undefined,
): void {
  if (!old || !sessionCapabilities?.fork || !sessionCapabilities.delete) return;
  connection.request(methods.agent.session.delete, { sessionId: old.session }).catch(() => {});
}
