import { type Recalled, visibleProse } from "@banyan/core/conversation";
import { Link } from "@tanstack/react-router";

/** What memory put in front of the model with a message, each with where it is from; a click goes there (W50, S26). */
export function RecalledItems({ items }: { readonly items: readonly Recalled[] }) {
  return (
    <details className="mt-2 rounded-lg border border-hair px-3 py-2 text-sm">
      <summary className="text-soft">
        Memory added {items.length} {items.length === 1 ? "entry" : "entries"} to what the model is told.
      </summary>
      <ul aria-label="What memory added" className="mt-2 flex flex-col gap-2">
        {items.map((item, index) => (
          <li key={index}>
            <p className="whitespace-pre-wrap">{visibleProse(item.text)}</p>
            <Source item={item} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function Source({ item: { source: from, conversation, message } }: { readonly item: Recalled }) {
  const source = visibleProse(from);
  if (conversation === undefined) return <p className="text-soft text-xs">{source}</p>;
  return (
    <Link
      to="/c/$conversation"
      params={{ conversation }}
      {...(message === undefined ? {} : { search: { leaf: message }, hash: `m-${message}` })}
      className="text-soft text-xs underline"
    >
      {source}
    </Link>
  );
}
