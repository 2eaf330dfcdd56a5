import { useCallback, useSyncExternalStore } from "react";
import { keepSharedValue, keptValue, listenToStorage } from "./kept-value.ts";

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
      keepSharedValue(name, next);
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
