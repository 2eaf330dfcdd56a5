import { visibleLine } from "@banyan/core/shown";
import { usePage } from "../page.ts";
import { Disclosure } from "../shell/disclosure.tsx";
import { useMay } from "../use-may.ts";
import { useConversation, useTree } from "./use-conversation.ts";

/** What the person allowed for this conversation; each rule can be revoked (W35). */
export function Rules() {
  const page = usePage();
  const { id: conversation } = useConversation();
  const may = useMay();
  const allowed = useTree()?.allowed ?? [];
  if (allowed.length === 0) return null;
  return (
    <Disclosure label={`${allowed.length} allowed`} name={`${allowed.length} allowed for this conversation`}>
      <p className="text-soft text-xs">Runs without asking, until the conversation ends:</p>
      <ul aria-label="Allowed for this conversation" className="mt-2 flex flex-col gap-1">
        {allowed.map((pattern) => (
          <li key={pattern} className="flex items-center justify-between gap-2">
            <code className="font-mono text-xs [unicode-bidi:bidi-override]">{visibleLine(pattern)}</code>
            {may("rule.revoke") && (
              <button
                type="button"
                aria-label={`Revoke ${pattern}`}
                onClick={() => page.told(page.connection.ask("rule.revoke", { conversation, pattern }))}
                className="min-h-6 rounded border border-line px-2 text-xs hover:bg-sunken"
              >
                Revoke
              </button>
            )}
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}
