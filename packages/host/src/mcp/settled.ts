import { refuseUnknown } from "@banyan/core/conversation";
import type { McpServerState, McpServers } from "@banyan/tools/mcp";
import { ownCommand } from "../programs/own-command.ts";

/**
 * Waits until each server is there or has failed, but no longer than the signal lets it. Returns in sentences for a person
 * which are not there (B47), and which check arguments by themselves (F43).
 */
export async function serversSettled(servers: McpServers, signal: AbortSignal): Promise<readonly string[]> {
  const over = Promise.withResolvers<void>();
  const end = () => over.resolve();
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  try {
    await Promise.race([servers.settled(), over.promise]);
  } finally {
    signal.removeEventListener("abort", end);
  }
  return servers.states.flatMap(missing);
}

/** Milliseconds that the first turn of a conversation waits for its servers. */
const FIRST_TURN = 30_000;
/** Milliseconds after which a person is told what is waited for. */
const TOLD_AFTER = 1_000;

/** Servers that a first turn has waited for: one that is lost later holds up no turn. */
const waitedFor = new WeakSet<McpServers>();

/** How the first turn waits. */
export interface FirstTurnOptions {
  /** Ends the wait: the turn begins without those that are not there. */
  readonly signal: AbortSignal;
  /** Told in a sentence, once, when it takes longer than a second. */
  readonly waiting?: (sentence: string) => void;
}

/**
 * Waits as the first turn of a conversation does (B83): until each server is there or has failed, but no longer than 30
 * seconds, so that no model is told that there is no such tool for a server that is late. Later turns, of whatever
 * conversation, do not wait, and nothing is said of them again. Resolves with what `serversSettled` does.
 */
export async function serversForFirstTurn(servers: McpServers, options: FirstTurnOptions): Promise<readonly string[]> {
  refuseUnknown("serversForFirstTurn", options, { signal: true, waiting: true });
  const { signal, waiting } = options;
  if (waitedFor.has(servers)) return [];
  const telling = setTimeout(() => {
    const names = servers.states.flatMap(({ name, status }) => (status === "connecting" ? [name] : []));
    if (names.length > 0)
      waiting?.(
        `Waiting for the MCP ${names.length === 1 ? "server" : "servers"} ${names.join(", ")}, for at most 30 s.`,
      );
  }, TOLD_AFTER);
  try {
    return await serversSettled(servers, AbortSignal.any([signal, AbortSignal.timeout(FIRST_TURN)]));
  } finally {
    waitedFor.add(servers);
    clearTimeout(telling);
  }
}

/** What is wrong with an entry names its server already. */
function cannotBeUsed(name: string, reason: string): string {
  if (/^The (?:entry of the )?MCP server /.test(reason)) return reason;
  return `The MCP server ${name} cannot be used: ${reason}.`.replace(/\.\.$/, ".");
}

function missing(state: McpServerState): string[] {
  switch (state.status) {
    case "ready":
      return [
        ...(state.unread
          ? [
              `The MCP server ${state.name} describes arguments in a way that cannot be read here, and checks them itself: ${state.unread.join("; ")}.`,
            ]
          : []),
        ...(state.odd ? [`The MCP server ${state.name} breaks its protocol: ${state.odd.join("; ")}.`] : []),
      ];
    case "disabled":
      return [];
    case "connecting":
      return [`The MCP server ${state.name} is still starting: its tools come with a later message.`];
    case "failed":
      return [cannotBeUsed(state.name, state.reason)];
    case "needs-auth":
      return [`The MCP server ${state.name} wants you to sign in: ${ownCommand(`mcp login ${state.name}`)}`];
  }
}
