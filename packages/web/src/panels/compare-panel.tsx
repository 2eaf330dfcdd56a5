import { formatSpent } from "@banyan/client/words";
import {
  type AssistantMessage,
  type ConversationState,
  lastAssistantMessage,
  leaves,
  type Message,
  pathTo,
  textOf,
  toolNameOf,
} from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { useEffect } from "react";
import { useConversation, useMessage, useTree } from "../parts/conversation/use-conversation.ts";
import { Select } from "../parts/design/field.tsx";
import { useMay } from "../parts/page/use-may.ts";
import { say, t, tCount } from "../parts/phrases/phrases.ts";
import { useCallStatus } from "../transcript/call-status.ts";
import { Markdown } from "../transcript/markdown/markdown.tsx";
import { AskSeveral } from "./ask-several.tsx";
import { SideBySide } from "./side-by-side.tsx";
import { TextDiff } from "./text-diff.tsx";
import { branchTitle } from "./tree/words.ts";
import { usePanel } from "./use-panel.ts";

const SHOWN = 20;

const CHOICES = 200;

/** Shows two branches side by side, from their common ancestor, with the differences of their answers (W14). */
export function ComparePanel({ leaf, beside }: { readonly leaf: string | null; readonly beside: string | undefined }) {
  const tree = useTree();
  const may = useMay();
  if (!tree) return <p className="p-3 text-sm">{t("No messages yet.")}</p>;
  const others = leaf === null ? [] : otherBranches(tree, leaf).slice(0, CHOICES);
  const other = beside !== undefined && tree.messages.has(beside) && beside !== leaf ? beside : others[0]?.leaf;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-3 text-sm">
      {may("branch.fan") && <AskSeveral leaf={leaf} beginsOpen={other === undefined} />}
      {leaf === null || other === undefined ? (
        <p>{t("Nothing to compare: this conversation has one branch.")}</p>
      ) : (
        <Comparison tree={tree} leaf={leaf} other={other} others={others} />
      )}
    </div>
  );
}

function Comparison({
  tree,
  leaf,
  other,
  others,
}: {
  readonly tree: ConversationState;
  readonly leaf: string;
  readonly other: string;
  readonly others: readonly OtherBranch[];
}) {
  const conversation = useConversation();
  const may = useMay();
  const { show } = usePanel();
  const { ancestor, left, right } = branchDivergence(tree, leaf, other);
  const answers = [lastAssistantMessage(left), lastAssistantMessage(right)] as const;
  const wanted = [...left.slice(0, SHOWN), ...right.slice(0, SHOWN), ...answers].flatMap(
    (message) => message?.id ?? [],
  );
  useEffect(() => conversation.read(wanted), [conversation, wanted]);
  const numbers = leaves(tree);
  const nameOf = (id: string) => tree.messages.get(id)?.label ?? branchTitle(conversation, tree, id);
  return (
    <>
      {may("branch.compare") && <SideBySide leaf={leaf} />}
      <label className="flex flex-wrap items-center gap-2">
        {t("Compare with")}
        <Select value={other} onChange={({ target }) => show("compare", target.value)}>
          {others.map(({ leaf: end, first }) => (
            <option key={end} value={end}>
              {`${numbers.indexOf(end) + 1} · ${tree.messages.get(end)?.label ?? nameOf(first)}`}
            </option>
          ))}
          {others.every((each) => each.leaf !== other) && <option value={other}>{nameOf(other)}</option>}
        </Select>
      </label>
      <p className="mt-2 truncate text-soft text-xs">
        {ancestor ? t("Both continue from: {name}", { name: nameOf(ancestor.id) }) : t("No messages in common.")}
      </p>
      <div className="mt-2 grid gap-3 md:grid-cols-2">
        <ComparedMessages name={t("This branch")} messages={left} />
        <ComparedMessages name={t("The other branch")} messages={right} />
      </div>
      <h2 className="mt-4 font-medium">{t("Differences between the answers")}</h2>
      <Difference left={answers[0]} right={answers[1]} />
    </>
  );
}

function ComparedMessages({ name, messages }: { readonly name: string; readonly messages: readonly Message[] }) {
  return (
    <section aria-label={name} className="min-w-0 rounded-md border border-hair p-2">
      <h2 className="font-medium text-soft text-xs">
        {name} · {tCount(messages.length, "{count} message", "{count} messages")}
      </h2>
      {messages.length === 0 && <p className="text-soft">{t("This branch has no messages of its own.")}</p>}
      {messages.slice(0, SHOWN).map(({ id }) => (
        <ComparedMessage key={id} id={id} />
      ))}
      {messages.length > SHOWN && (
        <p className="text-soft text-xs">{t("and {count} more", { count: messages.length - SHOWN })}</p>
      )}
    </section>
  );
}

function ComparedMessage({ id }: { readonly id: string }) {
  const { message } = useMessage(id);
  if (!message) return <p className="text-soft">…</p>;
  const isPerson = message.role === "user";
  return (
    <div className={isPerson ? "my-1 rounded bg-leaf-ground px-2 py-1" : "my-1"}>
      <Markdown text={textOf(message)} isStreaming={message.role === "assistant" && message.finish === undefined} />
      {message.role === "assistant" && <Footer message={message} />}
    </div>
  );
}

function Footer({ message: { calls, model, usage, cost } }: { readonly message: AssistantMessage }) {
  const statusOf = useCallStatus();
  const tools = calls.map((call) => `${visibleLine(toolNameOf(call))}: ${statusOf(call)[1]}`).join(", ");
  return (
    <p className="text-soft text-xs">
      {tools !== "" && <span className="block">{tools}</span>}
      {[model, usage ? formatSpent(usage, cost, say) : ""].filter((part) => part !== "").join(" · ")}
    </p>
  );
}

function Difference({
  left,
  right,
}: {
  readonly left: AssistantMessage | undefined;
  readonly right: AssistantMessage | undefined;
}) {
  const one = useText(left);
  const other = useText(right);
  if (one === undefined || other === undefined)
    return <p className="text-soft">{t("One of the branches has no answer.")}</p>;
  if (one.trim() === "" && other.trim() === "")
    return <p className="text-soft">{t("Neither branch has an answer yet.")}</p>;
  return <TextDiff before={other} after={one} />;
}

function useText(answer: AssistantMessage | undefined): string | undefined {
  const { message } = useMessage(answer?.id ?? "");
  return answer && message ? textOf(message) : undefined;
}

export interface OtherBranch {
  readonly leaf: string;
  /** The first message of the branch that is not on the current branch. */
  readonly first: string;
}

/** Returns the branches of the main conversation except the one that ends at `leaf`, the nearest first. */
export function otherBranches(tree: ConversationState, leaf: string): OtherBranch[] {
  const depth = new Map(pathTo(tree, leaf).map(({ id }, index) => [id, index]));
  return leaves(tree)
    .filter((other) => !depth.has(other))
    .map((other) => {
      let first = other;
      let parent = tree.messages.get(first)?.parentId ?? null;
      for (; parent !== null && !depth.has(parent); parent = tree.messages.get(first)?.parentId ?? null) first = parent;
      return { leaf: other, first, shared: parent === null ? -1 : (depth.get(parent) ?? -1) };
    })
    .sort((a, b) => b.shared - a.shared);
}

/** Two branches from the message where they fork. */
export interface BranchDivergence {
  readonly ancestor: Message | undefined;
  readonly left: readonly Message[];
  readonly right: readonly Message[];
}

/** Returns the last common message of two branches, and the messages after it. */
export function branchDivergence(tree: ConversationState, left: string, right: string): BranchDivergence {
  const [one, other] = [pathTo(tree, left), pathTo(tree, right)];
  let shared = 0;
  while (shared < one.length && one[shared] === other[shared]) shared++;
  return { ancestor: one[shared - 1], left: one.slice(shared), right: other.slice(shared) };
}
