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
import type { AcpAgent } from "../acp-agent.ts";
import { type Marker, markersIn } from "./marker.ts";
import { promptOf } from "./prompt.ts";

/** Sessions along a path that an agent keeps for branches; older ones are deleted where it can. */
const KEPT = 8;

/** A session of an agent that is ready for what is said now. */
export interface ReadySession {
  readonly id: string;
  readonly prompt: ContentBlock[];
  /** US dollars that it had cost when it was left, where it goes on. */
  readonly spent: number | undefined;
}

/**
 * The session in which a turn goes on:
 *
 * | the agent | the conversation goes on from its last response | then |
 * |---|---|---|
 * | can fork | on any branch | a fork of the session that this response left, which stays as it was for other branches |
 * | can resume or load | there alone | the same session |
 * | | on another branch too, or the session is gone, or there was none | a new session, which is told all that was said |
 *
 * What was said since by others, such as another model, is told in the prompt.
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
      forget(connection, can, markers.at(-KEPT)?.marker);
      const prompt = promptOf({ instructions: "", ...cut(messages.slice(last.at + 1)) }, blocks);
      return { id: continued.id, spent: continued.spent, prompt };
    }
  }
  const begun = await connection.request(methods.agent.session.new, { cwd: agent.cwd, mcpServers: [] });
  const { sessionId } = begun;
  await chooseEffort(agent, connection, { id: sessionId, ...begun });
  const instructions = agent.instructions === false ? "" : turn.instructions;
  return { id: sessionId, prompt: promptOf({ instructions, ...cut(messages) }, blocks), spent: undefined };
}

/** What a person says now, and what was said before. */
function cut(messages: readonly PromptMessage[]): {
  readonly before: readonly PromptMessage[];
  readonly now: readonly PromptMessage[];
} {
  const at = messages.findLastIndex(({ role }) => role === "assistant") + 1;
  return { before: messages.slice(0, at), now: messages.slice(at) };
}

/** Nothing where the agent has no such session any more, or no way to go on with it. */
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
    // It was removed, or is of another folder or machine: what was said is told anew.
    if (error instanceof RequestError) return undefined;
    throw error;
  }
}

/** What can be chosen in a session, as its agent says. */
interface OfferedOptions {
  readonly configOptions?: readonly SessionConfigOption[] | null | undefined;
}

/**
 * Lets an agent think as much in a session as is wanted of it. Rejects with a `ModelError` where it knows no such effort: to go on
 * with another one would cost what nobody wanted.
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
        ? "It offers none: leave it out."
        : `It knows ${known}; what stands behind the colon must be one of them.`;
    throw new ModelError("invalid-request", `The agent "${name}" has no effort "${effort}". ${sentence}`, {
      retryable: false,
    });
  }
  if (option.type === "select" && option.currentValue === chosen.value) return;
  const configId = option.id;
  await connection.request(methods.agent.session.setConfigOption, { sessionId, configId, value: chosen.value });
}

/** A session that only a branch from far back would fork: it is told anew there. */
function forget(connection: ClientContext, { sessionCapabilities }: AgentCapabilities, old: Marker | undefined): void {
  if (!old || !sessionCapabilities?.fork || !sessionCapabilities.delete) return;
  connection.request(methods.agent.session.delete, { sessionId: old.session }).catch(() => {
    // It stays there, which harms nothing.
  });
}
