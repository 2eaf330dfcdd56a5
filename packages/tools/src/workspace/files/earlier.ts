import type { ToolContext } from "@banyan/core";
import { type AddressedText, EARLIER, earlierTextsToSearch, readEarlier } from "@banyan/core/hosts";
import { WorkspaceError } from "./error.ts";

/** The display of a call for an `earlier:` address. The call concerns no file, so path rules do not apply (F98). */
export const LOOKING_BACK = { paths: [], looksAt: { one: "earlier message", several: "earlier messages" } } as const;

/** Returns whether a path is the address of an earlier message or result. A file with such a name is written `./earlier:...`. */
export function isEarlier(path: string): boolean {
  return path.startsWith(EARLIER);
}

/** Returns the text at an `earlier:` address on the branch of a call. Rejects with a `WorkspaceError` if there is none. */
export async function earlierText(address: string, { wholePath }: WholePathContext): Promise<string> {
  const path = await wholePath();
  return refuseEarlierErrors(() => readEarlier(path, address));
}

/** Returns the texts that a search at an `earlier:` address covers. Rejects like `earlierText`. */
export async function earlierTexts(
  address: string,
  { wholePath }: WholePathContext,
): Promise<readonly AddressedText[]> {
  const path = await wholePath();
  return refuseEarlierErrors(() => earlierTextsToSearch(path, address));
}

type WholePathContext = Pick<ToolContext, "wholePath">;

function refuseEarlierErrors<Found>(look: () => Found): Found {
  try {
    return look();
  } catch (error) {
    throw error instanceof RangeError ? new WorkspaceError("missing", error.message, { cause: error }) : error;
  }
}
