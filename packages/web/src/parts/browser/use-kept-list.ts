import { useCallback, useSyncExternalStore } from "react";
import { keepValue, keptValue } from "./kept-value.ts";

/** The event for changes in this window; `storage` reports only those of other windows. */
const CHANGED = "banyan-kept-list";

interface CachedList {
  readonly json: string;
  readonly list: readonly unknown[];
}

const reads = new Map<string, CachedList>();

/** Returns a stored list that all windows share, and its setter. Items that fail `isOne` are left out. */
export function useKeptList<Item>(
  name: string,
  isOne: (item: unknown) => item is Item,
): readonly [readonly Item[], (list: readonly Item[]) => void] {
  const list = useSyncExternalStore(listenToStorage, () => readKeptList(name, isOne));
  const change = useCallback(
    (next: readonly Item[]) => {
      keepValue(name, next);
      window.dispatchEvent(new Event(CHANGED));
    },
    [name],
  );
  return [list, change];
}

function readKeptList<Item>(name: string, isOne: (item: unknown) => item is Item): readonly Item[] {
  const found = keptValue(name);
  const list = Array.isArray(found) ? found.filter(isOne) : [];
  const json = JSON.stringify(list);
  const last = reads.get(name);
  if (last?.json === json) return last.list as readonly Item[];
  reads.set(name, { json, list });
  return list;
}

function listenToStorage(listener: () => void): () => void {
  window.addEventListener("storage", listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener("storage", listener);
    window.removeEventListener(CHANGED, listener);
  };
}
