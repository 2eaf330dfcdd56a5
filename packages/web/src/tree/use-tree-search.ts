import { useDeferredValue, useEffect, useState } from "react";
import { useConversation } from "../conversation/use-conversation.ts";
import { usePage } from "../page.ts";

/** Hits that the server is asked for, the newest first. */
const MOST_HITS = 1_000;

const NONE: ReadonlySet<string> = new Set();

/** The messages of this conversation, on any branch, in which all words of the query occur (W19). */
export function useTreeSearch(query: string): ReadonlySet<string> {
  const { connection } = usePage();
  const { id } = useConversation();
  const [hits, setHits] = useState(NONE);
  const wanted = useDeferredValue(query.trim());
  useEffect(() => {
    setHits(NONE);
    if (wanted === "") return;
    let isWanted = true;
    connection.ask("conversation.search", { query: wanted, conversation: id, limit: MOST_HITS }).then(
      (found) => {
        if (isWanted) setHits(new Set(found.hits.map(({ message }) => message)));
      },
      () => {
        // A query that cannot be searched for finds nothing.
      },
    );
    return () => {
      isWanted = false;
    };
  }, [connection, id, wanted]);
  return hits;
}
