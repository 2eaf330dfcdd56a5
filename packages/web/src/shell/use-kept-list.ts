import { useCallback, useSyncExternalStore } from "react";
import { keep, kept } from "./kept.ts";

/** A page hears of a change in another window as `storage`; of its own it is told by this. */
const CHANGED = "banyan-kept-list";

/** A list as it was read last, so that it is the same array while nothing changes. */
interface Read {
  readonly json: string;
  readonly list: readonly unknown[];
}

const reads = new Map<string, Read>();

/** A list that the browser keeps under a name, the same in all its windows; what `isOne` says is none of its kind is left out. */
export function useKeptList<Item>(
  name: string,
  isOne: (item: unknown) => item is Item,
): readonly [readonly Item[], (list: readonly Item[]) => void] {
  const list = useSyncExternalStore(listen, () => read(name, isOne));
  const change = useCallback(
    (next: readonly Item[]) => {
      keep(name, next);
      window.dispatchEvent(new Event(CHANGED));
    },
    [name],
  );
  return [list, change];
}

function read<Item>(name: string, isOne: (item: unknown) => item is Item): readonly Item[] {
  const found = kept(name);
  const list = Array.isArray(found) ? found.filter(isOne) : [];
  const json = JSON.stringify(list);
  const last = reads.get(name);
  if (last?.json === json) return last.list as readonly Item[];
  reads.set(name, { json, list });
  return list;
}

function listen(listener: () => void): () => void {
  window.addEventListener("storage", listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener("storage", listener);
    window.removeEventListener(CHANGED, listener);
  };
}
