import {
  type ConversationState,
  type Cost,
  lastAssistantMessage,
  pathTo,
  spentOn,
  totalTokens,
  type Usage,
} from "@banyan/core/conversation";
import { formatCost, formatTokens, shortCount, visibleLine } from "@banyan/core/shown";
import { Inbox } from "../conversations/inbox.tsx";
import { usePage } from "../page.ts";
import { usePanel } from "../panels/use-panel.ts";
import { Disclosure } from "../shell/disclosure.tsx";
import { useMay } from "../use-may.ts";
import { ConversationMenu, useTitle } from "./conversation-menu.tsx";
import { useConversation, useTree } from "./use-conversation.ts";
import { useKnownModels } from "./use-models.ts";

/** The title, what waits for the person, and what the branch and the tree have cost (W42). */
export function ConversationHeader({ leaf }: { readonly leaf: string | null }) {
  const tree = useTree();
  const title = useTitle();
  if (!tree) return null;
  const branch = spentOn(pathTo(tree, leaf));
  const { usage, cost } = tree;
  return (
    <header className="flex flex-wrap items-center gap-x-4 gap-y-1 border-hair border-b px-4 py-2">
      <h1 className="min-w-32 flex-1 truncate font-semibold">{title ?? "New conversation"}</h1>
      <dl className="flex flex-wrap gap-x-4 text-soft text-xs">
        <Spent name="This branch" usage={branch.usage} cost={branch.cost} />
        <Spent name="All branches" usage={usage} cost={cost} />
        <ContextUsed tree={tree} leaf={leaf} />
      </dl>
      <div className="flex gap-2 print:hidden">
        <Inbox />
        <Rules />
        <PanelButton />
        <ConversationMenu leaf={leaf} />
      </div>
    </header>
  );
}

/** How much of what the model can hold the branch takes: what its last answer was made of, and the answer. */
function ContextUsed({ tree, leaf }: { readonly tree: ConversationState; readonly leaf: string | null }) {
  const answer = lastAssistantMessage(
    pathTo(tree, leaf).filter((message) => message.role !== "assistant" || message.usage),
  );
  const size = useKnownModels(answer?.model ?? "").find(({ name }) => name === answer?.model)?.contextSize;
  if (!answer?.usage) return null;
  const used = answer.usage.input + answer.usage.output;
  const limit = size === undefined ? "—" : shortCount(size);
  const share = size === undefined ? "" : ` (${Math.round((100 * used) / size)} %)`;
  return (
    <Amount
      name="Context"
      title={`${used} tokens of ${size ?? "an unknown limit"}`}
      value={`${shortCount(used)} / ${limit}${share}`}
    />
  );
}

/** What models took; nothing while no answer has told: $0 would be a price, and that is not known yet (W51). */
function Spent({ name, usage, cost }: { readonly name: string; readonly usage: Usage; readonly cost: Cost }) {
  if (totalTokens(usage) === 0 && cost === 0) return null;
  return <Amount name={name} title={formatTokens(usage)} value={formatCost(cost)} />;
}

function Amount({ name, value, title }: { readonly name: string; readonly value: string; readonly title: string }) {
  return (
    <div className="flex gap-1" title={title}>
      <dt>{name}</dt>
      <dd className="text-ink">{value}</dd>
    </div>
  );
}

/** What the person allowed for this conversation; each rule can be revoked (W35). */
function Rules() {
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

/** Opens the panels, or closes them. */
function PanelButton() {
  const { panel, show } = usePanel();
  return (
    <button
      type="button"
      aria-expanded={panel !== undefined}
      onClick={() => show(panel === undefined ? "branches" : undefined)}
      className="min-h-6 rounded border border-line px-2 py-0.5 text-xs hover:bg-sunken"
    >
      Panels
    </button>
  );
}
