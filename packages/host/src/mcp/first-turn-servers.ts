import { refuseUnknown } from "@banyan/core/conversation";
import type { McpServerState, McpServers } from "@banyan/tools/mcp";
import { ownCommand } from "../programs/own-command.ts";

/**
 * Waits until each server has started or failed. Returns sentences for users about failed servers (B47), and about
 * servers that check arguments themselves (F43).
 */
export async function waitForServers(servers: McpServers, signal: AbortSignal): Promise<readonly string[]> {
  const over = Promise.withResolvers<void>();
  const end = () => over.resolve();
  if (signal.aborted) end();
  signal.addEventListener("abort", end, { once: true });
  try {
    await Promise.race([servers.settled(), over.promise]);
  } finally {
    signal.removeEventListener("abort", end);
  }
  return servers.states.flatMap(missingNotes);
}

/** Maximum milliseconds that a first turn waits for servers. */
const FIRST_TURN = 30_000;
/** Milliseconds after which the user is informed. */
const TOLD_AFTER = 1_000;

/** Servers that a first turn has waited for. */
const waitedFor = new WeakSet<McpServers>();

/** Options of `serversForFirstTurn`. */
export interface FirstTurnOptions {
  /** Aborts the wait. The turn then begins without the missing servers. */
  readonly signal: AbortSignal;
  /** Called once with a sentence if the wait takes longer than a second. */
  readonly waiting?: (sentence: string) => void;
}

/**
 * At the first turn of a conversation (B83), waits until each server has started or failed, for at most 30 seconds. In
 * this way, the model also gets the tools of slow servers. Later turns do not wait. Resolves like `waitForServers`.
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
    return await waitForServers(servers, AbortSignal.any([signal, AbortSignal.timeout(FIRST_TURN)]));
  } finally {
    waitedFor.add(servers);
    clearTimeout(telling);
  }
}

function cannotBeUsed(name: string, reason: string): string {
  if (/^The (?:entry of the )?MCP server /.test(reason)) return reason;
  return `The MCP server ${name} cannot be used: ${reason}.`.replace(/\.\.$/, ".");
}

function missingNotes(state: McpServerState): string[] {
  switch (state.status) {
    case "ready":
      return [
        ...(state.unread
          ? [
              `The MCP server ${state.name} describes arguments in a form that Banyan cannot check, so only the server checks them: ${state.unread.join("; ")}.`,
            ]
          : []),
        ...(state.odd ? [`The MCP server ${state.name} breaks the MCP protocol: ${state.odd.join("; ")}.`] : []),
      ];
    case "disabled":
      return [];
    case "connecting":
      return [`The MCP server ${state.name} is still starting. Its tools will be available with a later message.`];
    case "failed":
      return [cannotBeUsed(state.name, state.reason)];
    case "needs-auth":
      return [`The MCP server ${state.name} wants you to sign in: ${ownCommand(`mcp login ${state.name}`)}`];
  }
}
