import { idInAddress, idToAddress } from "@banyan/core/conversation";
import { isPanel, type PanelName } from "../page/panel-names.ts";

/** The view of the page (W5). The address contains the whole view, so a reload or a bookmark shows the same. */
export interface PageView {
  /** The conversation in view. Absent on the first page. */
  readonly conversation?: string | undefined;
  /** The last message of the branch in view. */
  readonly leaf?: string | undefined;
  readonly whole?: boolean | undefined;
  /** The open panel; `none` if the user closed the default panel. */
  readonly panel?: PanelName | "none" | undefined;
  /** The last message of another branch, to compare or to show its changed files. */
  readonly beside?: string | undefined;
  readonly message?: string | undefined;
}

/** Returns the address that shows this view, beginning with the path. */
export function pageAddress({ conversation, leaf, whole = false, panel, beside, message }: PageView): string {
  if (conversation === undefined) return "/";
  const said = Object.entries({ leaf, whole: whole ? "true" : undefined, panel, beside });
  const search = new URLSearchParams(said.filter((entry): entry is [string, string] => entry[1] !== undefined));
  const hash = message === undefined ? "" : `#m-${idToAddress(message)}`;
  return `/c/${idToAddress(conversation)}${search.size === 0 ? "" : `?${search}`}${hash}`;
}

/** Returns the view that an address names. Ignores invalid values. */
export function readPageAddress({ pathname, search, hash }: Pick<URL, "pathname" | "search" | "hash">): PageView {
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
