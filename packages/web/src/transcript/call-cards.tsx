import { foldNeighbours, foldSentence, quietCall } from "@banyan/client/display";
import type { Call } from "@banyan/core/conversation";
import { Icon } from "../parts/design/icon.tsx";
import { say } from "../parts/phrases/phrases.ts";
import { CallCard } from "./call-card.tsx";

/** Shows adjacent calls. Neighbours that only read and succeeded are folded into one line (W30). */
export function CallCards({ calls, message }: { readonly calls: readonly Call[]; readonly message: string }) {
  return foldNeighbours(calls, quietCall).map((group) =>
    group.length === 1 ? (
      group.map((call) => <CallCard key={call.id} call={call} message={message} />)
    ) : (
      <details key={group[0].id} className="group/fold my-1.5 rounded-lg border border-hair text-sm">
        <summary className="flex cursor-pointer items-center gap-2 rounded-lg px-3 py-1.5 hover:bg-raised">
          <span aria-hidden="true" className="text-leaf text-xs">
            ✓
          </span>
          <span className="min-w-0 [overflow-wrap:anywhere]">
            {foldSentence(
              group.flatMap((call) => quietCall(call) ?? []),
              say,
            )}
          </span>
          <span className="ms-auto text-soft group-open/fold:rotate-90 rtl:group-open/fold:-rotate-90">
            <Icon of="fold" />
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
