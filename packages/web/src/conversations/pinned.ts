import { useSyncExternalStore } from "react";
import { keep, kept } from "../shell/kept.ts";

const KEY = "pinned";
/** A page hears of a change in another window as `storage`; of its own it is told by this. */
const CHANGED = "banyan-pinned";
const NONE: readonly string[] = [];

let last: { readonly json: string; readonly ids: readonly string[] } = { json: "", ids: NONE };

/** The conversations that a person keeps at the top of the list, in this browser; the same array while nothing changes. */
export function usePinned(): readonly string[] {
  return useSyncExternalStore(listen, pinned);
}

/** Keeps a conversation at the top, or no more. */
export function pin(conversation: string, isPinned: boolean): void {
  const others = pinned().filter((id) => id !== conversation);
  keep(KEY, isPinned ? [...others, conversation] : others);
  window.dispatchEvent(new Event(CHANGED));
}

function pinned(): readonly string[] {
  const read = kept(KEY);
  const ids = Array.isArray(read) ? read.filter((id): id is string => typeof id === "string") : NONE;
  const json = JSON.stringify(ids);
  if (json !== last.json) last = { json, ids };
  return last.ids;
}

function listen(listener: () => void): () => void {
  window.addEventListener("storage", listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener("storage", listener);
    window.removeEventListener(CHANGED, listener);
  };
}
