import { type CommandName, rights } from "@banyan/protocol";
import { usePageState } from "./page.ts";

/**
 * Whether this person may do something, by the command that it takes (S28): the server refuses what a guest may not, and the
 * page does not show it.
 */
export function useMay(): (command: CommandName) => boolean {
  const has = usePageState((state) => state.rights);
  return (command) => has.includes(rights[command]);
}
