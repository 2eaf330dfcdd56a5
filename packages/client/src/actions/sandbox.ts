import { visibleLine } from "@banyan/core/shown";
import {
  type ActionContext,
  ActionRefusal,
  type ActionStep,
  conversationCommand,
  message,
  serverCommand,
} from "./action.ts";

/** Reads the arguments of `/sandbox`. Throws an `ActionRefusal` for wrong arguments. */
export function readSandbox(argument: string, { state, say }: ActionContext): ActionStep {
  const command = state.messages.size > 0 ? conversationCommand : serverCommand;
  if (argument === "")
    return command("sandbox.read", {}, ({ state: held, addresses, ports, hidden }) =>
      message(
        visibleLine(held),
        ...addresses.map(({ address, lasts }) =>
          lasts === "always"
            ? say("{address}, in all conversations", { address: visibleLine(address) })
            : say("{address}, in this conversation", { address: visibleLine(address) }),
        ),
        ...(addresses.length > 0 ? [say("/sandbox drop and an address revokes the address.")] : []),
        ...ports.map((port) =>
          say("Port {port} opens without a question for commands in this folder. /sandbox drop :{port} ends this.", {
            port: String(port),
          }),
        ),
        ...(hidden.length > 0
          ? [say("Deny rules hide these paths from commands: {paths}", { paths: shownPaths(hidden) })]
          : []),
      ),
    );
  const [, address] = /^drop\s+(\S+)$/.exec(argument) ?? [];
  if (address === undefined)
    throw new ActionRefusal(
      say("Give one address, as in /sandbox drop example.org:443. /sandbox lists the addresses."),
    );
  return command("address.revoke", { address }, ({ revoked }) =>
    message(
      revoked
        ? say("Commands can no longer reach {address}.", { address: visibleLine(address) })
        : say("{address} is not among the addresses. /sandbox lists the addresses.", { address: visibleLine(address) }),
    ),
  );
}

const PATHS_SHOWN = 20;

function shownPaths(paths: readonly string[]): string {
  const shown = paths.slice(0, PATHS_SHOWN).map(visibleLine);
  return [...shown, ...(paths.length > PATHS_SHOWN ? [`… (${paths.length})`] : [])].join(", ");
}
