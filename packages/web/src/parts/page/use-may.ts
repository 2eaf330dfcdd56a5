import { type CommandName, rightFor } from "@banyan/protocol";
import { usePageState } from "./page.ts";

/** Returns whether the user may send a command (S28). The page hides the actions that the server would refuse to a guest. */
export function useMay(): (command: CommandName) => boolean {
  const has = usePageState((state) => state.rights);
  return (command) => has.includes(rightFor(command));
}
