import { type Reference, referencesIn } from "@banyan/core/shown";
import { useEffect, useState } from "react";
import { usePage } from "../page.ts";

/**
 * What a message names with `@` and that goes along with it: files and folders that are there, patterns of files, pages (W66).
 * A name that is still being written is none yet.
 */
export function useNamedFiles(text: string, caret: number): readonly Reference[] {
  const { connection } = usePage();
  const [isThere, setThere] = useState<ReadonlyMap<string, boolean>>(new Map());
  const named = referencesIn(text).filter(({ at, text: typed }) => at + typed.length < caret || at > caret);
  const unknown = named.find(({ name }) => isFile(name) && !isThere.has(name))?.name;
  useEffect(() => {
    if (unknown === undefined) return;
    let isWanted = true;
    const know = (there: boolean) => {
      if (isWanted) setThere((before) => new Map(before).set(unknown, there));
    };
    connection.ask("file.find", { query: unknown, limit: 20 }).then(
      ({ files }) => know(files.some((path) => path === unknown || path === `${unknown}/`)),
      // Without the server it is a word; what the server makes of it is told when it is said.
      () => know(false),
    );
    return () => {
      isWanted = false;
    };
  }, [connection, unknown]);
  const once = new Map(named.map((reference) => [reference.name, reference]));
  return [...once.values()].filter(({ name }) => !isFile(name) || isThere.get(name));
}

/** Pages, and patterns of several files, are not looked for: they go along as they are written. */
function isFile(name: string): boolean {
  return !/^https?:\/\/|[*?{[]/.test(name);
}
