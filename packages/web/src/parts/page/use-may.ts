import { type CommandName, type Right, rightFor } from "@banyan/protocol";
import { usePageState } from "./page.ts";

/**
 * Returns a function that tells whether the user may send a command (S28). The page hides actions that the server would
 * refuse.
 */
export function useMay(): (command: CommandName) => boolean {
  const { rights, without } = useAllowance();
  return (command) => rights.includes(rightFor(command)) && !without?.includes(command);
}

/** The user's rights, and the commands that this server does not have (L1). */
export function useAllowance(): { readonly rights: readonly Right[]; readonly without: readonly string[] | undefined } {
  const rights = usePageState((state) => state.rights);
  const without = usePageState(({ connection }) =>
    connection.phase === "open" ? connection.welcome.without : undefined,
  );
  return { rights, without };
}
