import type { ToolContext } from "@banyan/core";
import { EARLIER, type EarlierText, readEarlier, searchedEarlier } from "@banyan/core/hosts";
import { WorkspaceError } from "./error.ts";

/** How a call on an address `earlier:` is shown: it is about no file, so rules on paths do not hold for it (F98). */
export const LOOKING_BACK = { paths: [], looksAt: { one: "earlier message", several: "earlier messages" } } as const;

/** Returns whether a path is an address of an earlier message or result. A file of such a name is `./earlier:` with the rest. */
export function isEarlier(path: string): boolean {
  return path.startsWith(EARLIER);
}

/** The text that an address `earlier:` names on the branch of a call. Rejects with a `WorkspaceError` where there is none. */
export async function earlierText(address: string, { wholePath }: LookingBack): Promise<string> {
  const path = await wholePath();
  return orRefused(() => readEarlier(path, address));
}

/** The texts in which a search at an address `earlier:` looks. Rejects as `earlierText` does. */
export async function earlierTexts(address: string, { wholePath }: LookingBack): Promise<readonly EarlierText[]> {
  const path = await wholePath();
  return orRefused(() => searchedEarlier(path, address));
}

type LookingBack = Pick<ToolContext, "wholePath">;

function orRefused<Found>(look: () => Found): Found {
  try {
    return look();
  } catch (error) {
    throw error instanceof RangeError ? new WorkspaceError("missing", error.message, { cause: error }) : error;
  }
}
