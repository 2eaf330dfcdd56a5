import type { RecalledMemory } from "@banyan/core/conversation";
import { visibleProse } from "@banyan/core/shown";
import { PageLink } from "../parts/browser/navigation.tsx";
import { useConversation } from "../parts/conversation/use-conversation.ts";
import { usePage } from "../parts/page/page.ts";
import { useMay } from "../parts/page/use-may.ts";
import { t, tCount } from "../parts/phrases/phrases.ts";

/** Lists the memory entries in the prompt of a message; a click on an entry opens its source (W50, S26). */
export function RecalledItems({
  message,
  items,
}: {
  readonly message: string;
  readonly items: readonly RecalledMemory[];
}) {
  const kept = items.filter(({ dismissed }) => !dismissed).length;
  return (
    <details className="mt-2 rounded-lg border border-hair px-3 py-2 text-sm">
      <summary className="text-soft">
        {tCount(kept, "Memory added {count} entry to the prompt.", "Memory added {count} entries to the prompt.")}
      </summary>
      <ul aria-label={t("Added from memory")} className="mt-2 flex flex-col gap-2">
        {items.map((item, index) => (
          <li key={index}>
            <p className={`whitespace-pre-wrap ${item.dismissed ? "text-soft line-through" : ""}`}>
              {visibleProse(item.text)}
            </p>
            <Source item={item} />
            <Wanted message={message} item={index} dismissed={item.dismissed === true} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Source({ item: { source: from, conversation, message } }: { readonly item: RecalledMemory }) {
  const source = visibleProse(from);
  if (conversation === undefined) return <p className="text-soft text-xs">{source}</p>;
  return (
    <PageLink to={{ conversation, leaf: message, message }} className="text-soft text-xs underline">
      {source}
    </PageLink>
  );
}

function Wanted({
  message,
  item,
  dismissed,
}: {
  readonly message: string;
  readonly item: number;
  readonly dismissed: boolean;
}) {
  const page = usePage();
  const { id: conversation } = useConversation();
  const may = useMay();
  const mark = () =>
    page.told(page.connection.ask("memory.dismiss", { conversation, message, item, dismissed: !dismissed }));
  return (
    <p className="text-soft text-xs">
      {dismissed && `${t("The model no longer gets this entry.")} `}
      {may("memory.dismiss") && (
        <button type="button" className="underline" onClick={mark}>
          {dismissed ? t("Use again") : t("Do not use this")}
        </button>
      )}
    </p>
  );
}
