import type { Result } from "@banyan/protocol";
import { Fragment, useEffect, useState } from "react";
import { usePage } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import { PlaceLink } from "../shell/navigation.tsx";

type Hit = Result<"conversation.search">["hits"][number];

/** What a search finds in all conversations and branches; a hit opens on its own branch (W19). */
export function SearchHits({ query }: { readonly query: string }) {
  const { connection } = usePage();
  const [hits, setHits] = useState<readonly Hit[]>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isWanted = true;
    connection.ask("conversation.search", { query, limit: 50 }).then(
      (found) => {
        if (!isWanted) return;
        setHits(found.hits);
        setProblem(undefined);
      },
      (error: unknown) => {
        if (isWanted) setProblem(error instanceof Error ? error.message : String(error));
      },
    );
    return () => {
      isWanted = false;
    };
  }, [connection, query]);
  if (problem !== undefined) return <p className="px-4 py-2 text-bad text-sm">{problem}</p>;
  return (
    <ul className="min-h-0 flex-1 overflow-y-auto px-2 pb-3" aria-label={t("Found for {query}", { query })}>
      {hits?.map((hit) => (
        <li key={`${hit.conversation} ${hit.message}`}>
          <PlaceLink
            to={{ conversation: hit.conversation, leaf: hit.message, message: hit.message }}
            end
            className="block rounded-md px-2 py-1.5 text-sm hover:bg-sunken"
          >
            <span className="block truncate font-medium">{hit.title}</span>
            <span className="line-clamp-2 text-soft text-xs">
              <Marked text={hit.excerpt} matches={hit.matches} />
            </span>
          </PlaceLink>
        </li>
      ))}
      {hits?.length === 0 && <li className="px-2 py-4 text-sm text-soft">{t("Nothing found.")}</li>}
    </ul>
  );
}

function Marked({ text, matches }: { readonly text: string; readonly matches: Hit["matches"] }) {
  const pieces = matches.map(([from, to], index) => (
    <Fragment key={from}>
      {text.slice(matches[index - 1]?.[1] ?? 0, from)}
      <mark className="bg-warn-ground text-inherit">{text.slice(from, to)}</mark>
    </Fragment>
  ));
  return (
    <>
      {pieces}
      {text.slice(matches.at(-1)?.[1] ?? 0)}
    </>
  );
}
