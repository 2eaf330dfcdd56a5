import { formatTokens } from "@banyan/client/words";
import {
  type ConversationState,
  type Cost,
  pathTo,
  totalTokens,
  type Usage,
  usageOnPath,
} from "@banyan/core/conversation";
import { formatCost, visibleLine } from "@banyan/core/shown";
import { Amount, ContextUsed } from "../../panels/context-used.tsx";
import { usePanel } from "../../panels/use-panel.ts";
import { useConversation, useTree } from "../../parts/conversation/use-conversation.ts";
import { Button, IconButton } from "../../parts/design/button.tsx";
import { Disclosure } from "../../parts/design/disclosure.tsx";
import { usePage } from "../../parts/page/page.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { say, t, tCount } from "../../parts/phrases/phrases.ts";
import { Harmless } from "../../transcript/approval.tsx";
import { Inbox } from "../conversations/inbox.tsx";
import { ConversationMenu, useTitle } from "./conversation-menu.tsx";

export function ConversationHeader({ leaf }: { readonly leaf: string | null }) {
  const tree = useTree();
  const title = useTitle();
  if (!tree) return null;
  return (
    <header className="flex min-h-12 items-center gap-1 border-hair border-b py-2 pe-3 ps-4 max-md:ps-12">
      <h1 dir="auto" className="min-w-0 flex-1 truncate font-semibold">
        {title ?? t("New conversation")}
      </h1>
      <div className="flex shrink-0 items-center gap-0.5 print:hidden">
        <Inbox />
        <Rules />
        <Figures tree={tree} leaf={leaf} />
        <ConversationMenu leaf={leaf} />
        <PanelButton />
      </div>
    </header>
  );
}

function Figures({ tree, leaf }: { readonly tree: ConversationState; readonly leaf: string | null }) {
  const { usage, cost } = tree;
  const branch = usageOnPath(pathTo(tree, leaf));
  if (totalTokens(usage) === 0 && cost === 0) return null;
  return (
    <Disclosure
      label={
        <span dir="ltr" className="max-sm:hidden">
          {branch.cost === undefined ? t("cost unknown") : formatCost(branch.cost, say)}
        </span>
      }
      icon="usage"
      name={t("Tokens and cost")}
    >
      <dl aria-label={t("Tokens and cost")} className="flex flex-col gap-1">
        <ConversationCost name={t("This branch")} usage={branch.usage} cost={branch.cost} />
        <ConversationCost name={t("All branches")} usage={usage} cost={cost} />
        <ContextUsed tree={tree} leaf={leaf} />
      </dl>
    </Disclosure>
  );
}

/** Usage and cost; empty before the first answer, because the price is then unknown and not $0 (W51). */
function ConversationCost({
  name,
  usage,
  cost,
}: {
  readonly name: string;
  readonly usage: Usage;
  readonly cost: Cost;
}) {
  if (totalTokens(usage) === 0 && cost === 0) return null;
  return <Amount name={name} title={formatTokens(usage, say)} value={formatCost(cost, say)} />;
}

function Rules() {
  const page = usePage();
  const { id: conversation } = useConversation();
  const may = useMay();
  const allowed = useTree()?.allowed ?? [];
  if (allowed.length === 0) return null;
  return (
    <Disclosure
      label={tCount(allowed.length, "{count} allowed", "{count} allowed")}
      name={tCount(allowed.length, "{count} allowed for this conversation", "{count} allowed for this conversation")}
    >
      <p className="text-soft text-xs">{t("Allowed without asking, until the conversation ends:")}</p>
      <ul aria-label={t("Allowed for this conversation")} className="mt-2 flex flex-col gap-1">
        {allowed.map((pattern) => (
          <li key={pattern} className="flex items-center justify-between gap-2">
            <code className="font-mono text-xs [unicode-bidi:bidi-override]">{visibleLine(pattern)}</code>
            {may("rule.revoke") && (
              <Button
                isSmall
                aria-label={t("Revoke {pattern}", { pattern })}
                onClick={() => page.told(page.connection.ask("rule.revoke", { conversation, pattern }))}
              >
                {t("Revoke")}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <Harmless rules={allowed} />
    </Disclosure>
  );
}

function PanelButton() {
  const { panel, show } = usePanel();
  return (
    <IconButton
      name={t("Panels")}
      icon="branches"
      aria-expanded={panel !== undefined}
      onClick={() => show(panel === undefined ? "branches" : undefined)}
    />
  );
}
