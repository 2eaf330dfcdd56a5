import type { Call } from "@banyan/core/conversation";
import { CallCard } from "./call-card.tsx";
import { isLook, looksInWords } from "./folds.ts";

/** Calls that stand side by side. Neighbours that only look and went well are folded into one line (W30). */
export function CallCards({ calls, message }: { readonly calls: readonly Call[]; readonly message: string }) {
  return groupsOf(calls).map((group) =>
    group.length === 1 ? (
      group.map((call) => <CallCard key={call.id} call={call} message={message} />)
    ) : (
      <details key={group[0]?.id} className="group/fold my-2 rounded-md border border-hair text-sm">
        <summary className="flex items-baseline gap-2 px-3 py-1.5">
          <span className="text-leaf">
            <span aria-hidden="true">✓ </span>
            done
          </span>
          <span>{looksInWords(group)}</span>
          <span aria-hidden="true" className="ml-auto text-soft group-open/fold:rotate-90">
            ▸
          </span>
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
    if (last?.every(isLook) && isLook(call)) last.push(call);
    else groups.push([call]);
  }
  return groups;
}
