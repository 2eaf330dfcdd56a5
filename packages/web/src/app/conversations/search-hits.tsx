import { withoutMarks } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { Fragment } from "react";
import { PageLink } from "../../parts/browser/navigation.tsx";
import { useServerAnswer } from "../../parts/page/use-server-answer.ts";
import { formatPageTime, t } from "../../parts/phrases/phrases.ts";

type Hit = Result<"conversation.search">["hits"][number];

/**
 * Lists search hits in all branches of users' conversations. With `programs`, also searches conversations of programs
 * (W19).
 */
export function SearchHits({ query, programs }: { readonly query: string; readonly programs: boolean }) {
  const { answer, problem } = useServerAnswer("conversation.search", { query, limit: 50, programs });
  const hits = answer?.hits;
  if (problem !== undefined) return <p className="px-4 py-2 text-bad text-sm">{problem}</p>;
  return (
    <ul className="min-h-0 flex-1 overflow-y-auto px-2 pb-3" aria-label={t("Results for {query}", { query })}>
      {hits &&
        [...Map.groupBy(hits, ({ conversation }) => conversation)].map(([conversation, found]) => (
          <li key={conversation} className="pt-2">
            <p className="truncate px-2 font-semibold text-sm">{found[0]?.title}</p>
            <ul aria-label={found[0]?.title}>
              {found.map((hit) => (
                <li key={hit.message}>
                  <HitLink hit={hit} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      {hits?.length === 0 && <li className="px-2 py-4 text-sm text-soft">{t("Nothing found.")}</li>}
    </ul>
  );
}

function HitLink({ hit: { conversation, message, role, at, excerpt, matches } }: { readonly hit: Hit }) {
  return (
    <PageLink
      to={{ conversation, leaf: message, message }}
      end
      className="block rounded-md px-2 py-1 text-xs hover:bg-sunken"
    >
      <span className="line-clamp-2">
        <Marked text={excerpt} matches={matches} />
      </span>
      <span className="text-soft">
        {role === "user" ? t("You") : t("The agent")}
        {" · "}
        {formatPageTime(at, { dateStyle: "medium", timeStyle: "short" })}
      </span>
    </PageLink>
  );
}

function Marked({ text, matches }: { readonly text: string; readonly matches: Hit["matches"] }) {
  const pieces = matches.map(([from, to], index) => (
    <Fragment key={from}>
      {withoutMarks(text.slice(matches[index - 1]?.[1] ?? 0, from))}
      <mark className="bg-warn-ground text-inherit">{text.slice(from, to)}</mark>
    </Fragment>
  ));
  return (
    <>
      {pieces}
      {withoutMarks(text.slice(matches.at(-1)?.[1] ?? 0))}
    </>
  );
}
