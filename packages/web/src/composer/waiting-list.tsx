import type { WaitingInput } from "@banyan/core/conversation";
import { useConversation, useTree } from "../conversation/use-conversation.ts";
import { usePage } from "../page.ts";

/** What was written and is not delivered: it can be changed into the other kind, moved and taken back (W37). */
export function WaitingList({ run }: { readonly run: string | undefined }) {
  const tree = useTree();
  if (!tree || tree.inbox.length === 0) return null;
  return (
    <ul aria-label="Not delivered yet" className="flex flex-col gap-1 text-sm">
      {tree.inbox.map((input, index) => (
        <Waiting key={input.id} input={input} before={tree.inbox[index - 1]?.id} run={run} />
      ))}
    </ul>
  );
}

const WORDS = { steer: "steers", queue: "queued", interrupt: "interrupts" } as const;

function Waiting({
  input: { id, parts, delivery, held },
  before,
  run,
}: {
  readonly input: WaitingInput;
  readonly before: string | undefined;
  readonly run: string | undefined;
}) {
  const { connection } = usePage();
  const { id: conversation } = useConversation();
  const text = parts.map((part) => (part.type === "text" ? part.text : (part.name ?? part.mediaType))).join(" ");
  const other = delivery === "queue" ? "steer" : "queue";
  const edit = (change: object) => void connection.ask("input.edit", { conversation, input: id, ...change });
  return (
    <li className="flex items-center gap-2 rounded border border-hair px-2 py-1">
      <span className="text-soft text-xs">{held ? "held" : WORDS[delivery]}</span>
      <span className="min-w-0 flex-1 truncate">{text}</span>
      {before !== undefined && <Small onClick={() => edit({ before })}>Earlier</Small>}
      {!held && (
        <Small onClick={() => edit({ delivery: other })}>{other === "steer" ? "Steer instead" : "Queue instead"}</Small>
      )}
      {held && run !== undefined && <Small onClick={() => edit({ run })}>Send</Small>}
      <Small onClick={() => void connection.ask("input.withdraw", { conversation, input: id })}>Take back</Small>
    </li>
  );
}

function Small({ children, onClick }: { readonly children: React.ReactNode; readonly onClick: () => void }) {
  return (
    <button type="button" onClick={onClick} className="min-h-6 rounded px-1 text-leaf text-xs hover:bg-sunken">
      {children}
    </button>
  );
}
