import { pathTo, spentOn } from "@banyan/core/conversation";
import { costInWords, tokensInWords } from "../shell/amounts.ts";
import { useTree } from "./use-conversation.ts";

/** The title, and what the branch and the tree have cost (W42). */
export function ConversationHeader({ leaf }: { readonly leaf: string | null }) {
  const tree = useTree();
  if (!tree) return null;
  const branch = spentOn(pathTo(tree, leaf));
  const { usage, cost } = tree;
  return (
    <header className="flex flex-wrap items-baseline gap-x-4 gap-y-1 border-hair border-b px-4 py-2">
      <h1 className="min-w-0 flex-1 truncate font-semibold">{tree.title ?? "New conversation"}</h1>
      <dl className="flex gap-4 text-soft text-xs">
        <Amount name="This branch" title={tokensInWords(branch.usage)} value={costInWords(branch.cost)} />
        <Amount name="All branches" title={tokensInWords(usage)} value={costInWords(cost)} />
      </dl>
    </header>
  );
}

function Amount({ name, value, title }: { readonly name: string; readonly value: string; readonly title: string }) {
  return (
    <div className="flex gap-1" title={title}>
      <dt>{name}</dt>
      <dd className="text-ink">{value}</dd>
    </div>
  );
}
