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

/** Sessions that an agent keeps per path for branches. Older sessions are deleted if the agent supports it. */
const KEPT = 8;

/** A session that is ready for the prompt. */
export interface ReadySession {
  readonly id: string;
  readonly prompt: ContentBlock[];
  /** US dollars that a resumed session had cost before this turn; undefined for new and forked sessions. */
  readonly spent: number | undefined;
}

/**
 * Chooses the session for a turn:
 *
 * | the agent | the conversation continues from its last response | session of the turn |
 * |---|---|---|
 * | can fork | on any branch | a fork of the session of that response, which other branches keep using |
 * | can resume or load | on the same branch | the same session |
 * | | on another branch, or the session is gone or never existed | a new session, which gets the whole history |
 *
 * The prompt includes messages that others added since, such as another model.
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

/** Splits messages into the history and the user's new messages. */
function splitAtUserMessage(messages: readonly PromptMessage[]): {
  readonly before: readonly PromptMessage[];
  readonly now: readonly PromptMessage[];
} {
  const at = messages.findLastIndex(({ role }) => role === "assistant") + 1;
  return { before: messages.slice(0, at), now: messages.slice(at) };
}

/** Returns undefined if the agent has lost the session or cannot continue it. */
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
    // The session was removed, or belongs to another folder or machine: a new session gets the history.
    if (error instanceof RequestError) return undefined;
    throw error;
  }
}

/** Options that a session offers. */
interface OfferedOptions {
  readonly configOptions?: readonly SessionConfigOption[] | null | undefined;
}

/**
 * Sets the reasoning effort of a session. Rejects with a `ModelError` if the agent does not offer the effort: another
 * one could cost more than the user wants.
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
        ? "It offers none: leave out the colon and the effort."
        : `Write one of these after the colon: ${known}.`;
    throw new ModelError("invalid-request", `The agent "${name}" has no effort "${effort}". ${sentence}`, {
      retryable: false,
    });
  }
  if (option.type === "select" && option.currentValue === chosen.value) return;
  const configId = option.id;
  await connection.request(methods.agent.session.setConfigOption, { sessionId, configId, value: chosen.value });
}

/** Deletes a session that only a branch from far back would fork; such a branch starts a new session. */
function closeOldSession(
  connection: ClientContext,
  { sessionCapabilities }: AgentCapabilities,
  old: Marker | undefined,
): void {
  if (!old || !sessionCapabilities?.fork || !sessionCapabilities.delete) return;
  connection.request(methods.agent.session.delete, { sessionId: old.session }).catch(() => {
    // A session that remains does no harm.
  });
}
