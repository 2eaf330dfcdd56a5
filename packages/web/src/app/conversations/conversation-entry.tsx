import { isId } from "@banyan/core/conversation";
import type { ListedConversation } from "@banyan/protocol";
import { useState } from "react";
import { takesFocus } from "../../parts/browser/focus-on.ts";
import { PageLink, usePageView } from "../../parts/browser/navigation.tsx";
import { useKeptList } from "../../parts/browser/use-kept-list.ts";
import { IconButton } from "../../parts/design/button.tsx";
import { Tag } from "../../parts/design/notice.tsx";
import { usePage } from "../../parts/page/page.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { t, tCount, waitingInWords } from "../../parts/phrases/phrases.ts";
import { Spinner } from "../../transcript/versions.tsx";

/** A conversation in the list: its name, its status and its actions (W47, W68). */
export function ConversationEntry({
  conversation,
  isChosen,
  onChoose,
}: {
  readonly conversation: ListedConversation;
  readonly isChosen: boolean;
  /** Selects or deselects this conversation. Present only in selection mode. */
  readonly onChoose: (() => void) | undefined;
}) {
  const { id, title, running, waiting, unread, broken } = conversation;
  const may = useMay();
  const [isNaming, setNaming] = useState(false);
  const isActive = usePageView((view) => view.conversation === id);
  const name = title || t("New conversation");
  if (onChoose) {
    return (
      <label className="mb-0.5 flex min-h-8 items-center gap-2 rounded-md px-2 py-1.5 text-sm hover:bg-sunken">
        <input type="checkbox" checked={isChosen} onChange={onChoose} className="size-4 shrink-0 accent-leaf" />
        <span dir="auto" className="min-w-0 flex-1 truncate">
          {name}
        </span>
      </label>
    );
  }
  if (isNaming) return <TitleField id={id} title={title} onClose={() => setNaming(false)} />;
  return (
    <div className="group/entry relative mb-0.5">
      <PageLink
        to={{ conversation: id }}
        aria-current={isActive ? "page" : undefined}
        className={`block rounded-md px-2 py-1.5 text-sm hover:bg-sunken ${isActive ? "bg-leaf-ground font-medium" : ""}`}
      >
        <span className="block truncate group-focus-within/entry:pe-24 group-hover/entry:pe-24" dir="auto">
          {name}
        </span>
        <span className="flex flex-wrap gap-1 empty:hidden">
          {running > 0 && (
            <Tag tone="good">
              <Spinner name={t("Running")} /> {t("running")}
            </Tag>
          )}
          {running === 0 && broken !== undefined && (
            <Tag tone={broken === "failed" ? "bad" : "warn"}>{BROKEN[broken]}</Tag>
          )}
          {waiting > 0 && <Tag tone="warn">{waitingInWords(waiting, may("question.answer"))}</Tag>}
          {/* The open conversation is about to be marked as read. */}
          {unread > 0 && !isActive && <Tag>{tCount(unread, "{count} unread", "{count} unread")}</Tag>}
        </span>
      </PageLink>
      <EntryActions id={id} name={name} onRename={() => setNaming(true)} />
    </div>
  );
}

function EntryActions({ id, name, onRename }: { readonly id: string; readonly name: string; onRename(): void }) {
  const page = usePage();
  const may = useMay();
  const [pinned, pin] = useKeptIds("pinned");
  const [archived, archive] = useKeptIds("archived");
  const isPinned = pinned.includes(id);
  const isArchived = archived.includes(id);
  return (
    <span className="absolute top-1 end-1 flex opacity-0 focus-within:opacity-100 group-hover/entry:opacity-100 [@media(hover:none)]:hidden">
      <IconButton
        isSmall
        name={isPinned ? t("Unpin {name}", { name }) : t("Pin {name}", { name })}
        icon="pin"
        isFilled={isPinned}
        onClick={() => pin([id], !isPinned)}
      />
      <IconButton
        isSmall
        name={isArchived ? t("Unarchive {name}", { name }) : t("Archive {name}", { name })}
        icon="archive"
        isFilled={isArchived}
        onClick={() => archive([id], !isArchived)}
      />
      {may("conversation.rename") && (
        <IconButton isSmall name={t("Rename {name}", { name })} icon="edit" onClick={onRename} />
      )}
      {may("conversation.remove") && (
        <IconButton
          isSmall
          name={t("Remove {name}", { name })}
          icon="remove"
          onClick={() => page.removal.begin([id], name)}
        />
      )}
    </span>
  );
}

/** Edits the title in place. Enter saves; Escape and losing the focus cancel. */
function TitleField({ id, title, onClose }: { readonly id: string; readonly title: string; onClose(): void }) {
  const page = usePage();
  const [words, setWords] = useState(title);
  return (
    <form
      className="mb-0.5 flex flex-col"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = words.trim();
        if (wanted !== "" && wanted !== title)
          page.told(page.connection.ask("conversation.rename", { conversation: id, title: wanted }));
        onClose();
      }}
    >
      <input
        ref={takesFocus}
        aria-label={t("Title")}
        value={words}
        maxLength={500}
        onChange={({ target }) => setWords(target.value)}
        onBlur={onClose}
        onKeyDown={({ key }) => {
          if (key === "Escape") onClose();
        }}
        className="min-h-8 rounded-md border border-line bg-surface px-2 text-sm"
      />
    </form>
  );
}

const BROKEN: Readonly<Record<NonNullable<ListedConversation["broken"]>, string>> = {
  failed: t("failed"),
  limit: t("stopped at a limit"),
  interrupted: t("interrupted"),
};

export type KeptListName = "pinned" | "archived";

/** Returns the user's pinned or archived conversations, and a function that adds or removes some. */
export function useKeptIds(
  list: KeptListName,
): readonly [readonly string[], (ids: readonly string[], isThere: boolean) => void] {
  const [all, change] = useKeptList(list, isId);
  return [
    all,
    (ids, isThere) => {
      const others = all.filter((id) => !ids.includes(id));
      change(isThere ? [...others, ...ids] : others);
    },
  ];
}
