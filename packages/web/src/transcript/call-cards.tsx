import type { Call } from "@banyan/core/conversation";
import { CallCard } from "./call-card.tsx";

/** Tools that only look, and what they look at. */
const LOOKS: Readonly<Record<string, string>> = {
  read: "files",
  list: "folders",
  search: "searches",
  fetch: "pages",
  web_search: "web searches",
};

/** Calls that stand side by side. Neighbours that only look and went well are folded into one line (W30). */
export function CallCards({ calls, message }: { readonly calls: readonly Call[]; readonly message: string }) {
  return groupsOf(calls).map((group) =>
    group.length === 1 ? (
      group.map((call) => <CallCard key={call.id} call={call} message={message} />)
    ) : (
      <details key={group[0]?.id} className="my-2 rounded-md border border-hair text-sm">
        <summary className="px-3 py-1.5">
          <span className="text-leaf">
            <span aria-hidden="true">✓ </span>
            done
          </span>{" "}
          {foldedInWords(group)}
        </summary>
        <div className="px-3">
          {group.map((call) => (
            <CallCard key={call.id} call={call} message={message} />
          ))}
        </div>
      </details>
    ),
  );
}

function groupsOf(calls: readonly Call[]): readonly (readonly Call[])[] {
  const groups: Call[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (last?.every(isFolded) && isFolded(call)) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

/** Only what went well: a failure is never folded away. */
function isFolded({ tool, status }: Call): boolean {
  return tool in LOOKS && status === "completed";
}

/** As in `Read 7 files, 2 searches`. */
function foldedInWords(calls: readonly Call[]): string {
  const counts = new Map<string, number>();
  for (const { tool } of calls) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  const kinds = [...counts].map(
    ([tool, count]) => `${count} ${count === 1 ? LOOKS[tool]?.replace(/(e?)s$/, "$1") : LOOKS[tool]}`,
  );
  return `Read ${kinds.join(", ")}`;
}
