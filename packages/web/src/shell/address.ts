import { idInAddress, pieceOfAddress } from "@banyan/core/conversation";
import { isPanel, type PanelName } from "../panels/panel-names.ts";

/** Where a person is in the page (W5). Its address says all of it, so that a reload or a bookmark leads there again. */
export interface Place {
  /** None is in view on the first page. */
  readonly conversation?: string | undefined;
  /** The end of the branch in view. */
  readonly leaf?: string | undefined;
  /** All messages of the branch are in the page. */
  readonly whole?: boolean | undefined;
  /** What stands beside the conversation: `none` is what somebody closed that would be open otherwise. */
  readonly panel?: PanelName | "none" | undefined;
  /** The end of another branch: the one that is compared, or whose changed files are shown. */
  readonly beside?: string | undefined;
  /** The message that is gone to. */
  readonly message?: string | undefined;
}

/** The address of a place, from the path on. */
export function addressOf({ conversation, leaf, whole = false, panel, beside, message }: Place): string {
  if (conversation === undefined) return "/";
  const said = Object.entries({ leaf, whole: whole ? "true" : undefined, panel, beside });
  const search = new URLSearchParams(said.filter((entry): entry is [string, string] => entry[1] !== undefined));
  const hash = message === undefined ? "" : `#m-${pieceOfAddress(message)}`;
  return `/c/${pieceOfAddress(conversation)}${search.size === 0 ? "" : `?${search}`}${hash}`;
}

/** The place that an address leads to. What it says that cannot be, it does not say. */
export function placeIn({ pathname, search, hash }: Pick<URL, "pathname" | "search" | "hash">): Place {
  const said = new URLSearchParams(search);
  const panel = said.get("panel");
  return {
    conversation: pathname.startsWith("/c/") ? idInAddress(pathname.slice("/c/".length)) : undefined,
    leaf: said.get("leaf") || undefined,
    whole: said.get("whole") === "true",
    panel: panel === "none" || isPanel(panel) ? panel : undefined,
    beside: said.get("beside") || undefined,
    message: hash.startsWith("#m-") ? idInAddress(hash.slice("#m-".length)) : undefined,
  };
}
