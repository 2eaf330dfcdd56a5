import { describeUnreadable, type UserPart, type WaitingInput } from "@banyan/core/conversation";
import { useState } from "react";
import { takesFocus } from "../parts/browser/focus-on.ts";
import { writtenIn } from "../parts/connection/unsent-message.ts";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { TextField } from "../parts/design/field.tsx";
import { usePage } from "../parts/page/page.ts";
import { useMay } from "../parts/page/use-may.ts";
import { say, t } from "../parts/phrases/phrases.ts";
import { messageInWords } from "../transcript/attachments.ts";

/** Lists undelivered messages, which the user can edit, reorder, deliver at another time or withdraw (W37). */
export function WaitingList({ run }: { readonly run: string | undefined }) {
  const tree = useTree();
  if (!tree || tree.inbox.length === 0) return null;
  return (
    <>
      <ul
        id="waiting"
        aria-label={t("Not delivered yet")}
        className="flex max-h-40 flex-col gap-1 overflow-y-auto text-sm"
      >
        {tree.inbox.map((input, index) => (
          <Waiting key={input.id} input={input} before={tree.inbox[index - 1]?.id} run={run} />
        ))}
      </ul>
      {tree.inbox.filter(({ delivery, held }) => delivery === "queue" && !held).length > 1 && (
        <p className="text-soft text-xs">{t("Queued messages are sent together and get one answer.")}</p>
      )}
    </>
  );
}

const WORDS = { steer: t("next"), queue: t("queued"), interrupt: t("interrupts") } as const;

function Waiting({
  input,
  before,
  run,
}: {
  readonly input: WaitingInput;
  readonly before: string | undefined;
  readonly run: string | undefined;
}) {
  const { id, delivery, held } = input;
  const page = usePage();
  const { connection } = page;
  const may = useMay();
  const { id: conversation } = useConversation();
  const [draft, setDraft] = useState<string>();
  const { text, rest } = writtenIn(input);
  const unreadable = describeUnreadable(input, say);
  const other = delivery === "queue" ? "steer" : "queue";
  const edit = (change: {
    readonly parts?: readonly UserPart[];
    readonly delivery?: "steer" | "queue";
    readonly before?: string;
    readonly run?: string;
  }) => {
    // The message was delivered meanwhile, and appears among the messages.
    connection.ask("input.edit", { conversation, input: id, ...change }).catch(() => {});
  };
  const save = () => {
    if (draft !== undefined && draft.trim() !== "") edit({ parts: [{ type: "text", text: draft }, ...rest] });
    setDraft(undefined);
  };
  return (
    <li className="flex flex-wrap items-center gap-x-2 rounded-md border border-hair px-2 py-1">
      <span className="text-soft text-xs">{held ? t("on hold") : WORDS[delivery]}</span>
      {draft === undefined ? (
        <span className="min-w-48 flex-1 truncate">{unreadable ?? messageInWords(input)}</span>
      ) : (
        <TextField
          ref={takesFocus}
          aria-label={t("Edited message")}
          value={draft}
          onChange={({ target }) => setDraft(target.value)}
          onKeyDown={({ key }) => {
            if (key === "Enter") save();
            if (key === "Escape") setDraft(undefined);
          }}
        />
      )}
      {may("input.edit") && (
        <>
          {draft === undefined ? (
            <WaitingButton onClick={() => setDraft(text)}>{t("Edit")}</WaitingButton>
          ) : (
            <WaitingButton onClick={save}>{t("Save")}</WaitingButton>
          )}
          {before !== undefined && <WaitingButton onClick={() => edit({ before })}>{t("Move up")}</WaitingButton>}
          {!held && (
            <WaitingButton onClick={() => edit({ delivery: other })}>
              {other === "steer" ? t("Send now") : t("Queue")}
            </WaitingButton>
          )}
          {held && run !== undefined && <WaitingButton onClick={() => edit({ run })}>{t("Send")}</WaitingButton>}
        </>
      )}
      {may("input.withdraw") && (
        <WaitingButton onClick={() => page.told(connection.ask("input.withdraw", { conversation, input: id }))}>
          {t("Take back")}
        </WaitingButton>
      )}
    </li>
  );
}

function WaitingButton({ children, onClick }: { readonly children: React.ReactNode; onClick(): void }) {
  return (
    <button type="button" onClick={onClick} className="min-h-6 rounded px-1 text-leaf text-xs hover:bg-sunken">
      {children}
    </button>
  );
}
