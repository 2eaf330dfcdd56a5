import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { Button } from "../design/button.tsx";
import { Select, TextField } from "../design/field.tsx";
import { usePage, usePageState } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import { type Preferences, usePreference } from "../shell/preferences.ts";
import { ConversationEntry, usePinned } from "./conversation-entry.tsx";
import { listRows } from "./days.ts";
import { ImportConversation } from "./import-conversation.tsx";
import { NewConversation } from "./new-conversation.tsx";
import { SearchHits } from "./search-hits.tsx";

/** All conversations, or what a search finds in them. */
export function ConversationList() {
  const [query, setQuery] = useState("");
  const wanted = useDeferredValue(query.trim());
  return (
    <>
      <div className="flex flex-col gap-1.5 p-3 pb-2">
        <Link to="/" className="flex min-h-8 items-center gap-2 px-2 font-semibold text-lg">
          <img src="/icon.svg" alt="" className="size-6" />
          Banyan
        </Link>
        <NewConversation />
        <TextField
          id="search"
          type="search"
          value={query}
          onChange={({ target }) => setQuery(target.value)}
          placeholder={t("Search all conversations")}
          aria-label={t("Search all conversations")}
        />
      </div>
      {wanted === "" ? <Days /> : <SearchHits query={wanted} />}
      <RemovedConversation />
      <div className="flex items-center justify-between gap-2 border-hair border-t px-3 py-2">
        <ThemeChoice />
        <ImportConversation />
      </div>
    </>
  );
}

/** Pixels of a row: of the name of a time, of a conversation, and of one that says how it stands. */
const HEAD = 32;
const ENTRY = 36;
const STANDING = 54;

/** The conversations by day; only the rows in sight are in the page (W68). */
function Days() {
  const conversations = usePageState((state) => state.conversations);
  const leaving = usePageState((state) => state.leaving?.conversation);
  const pinned = usePinned();
  const scroller = useRef<HTMLElement>(null);
  const today = new Date().toDateString();
  const rows = useMemo(
    () =>
      listRows(conversations?.filter(({ id }) => id !== leaving) ?? [], {
        pinned: new Set(pinned),
        now: new Date(today).getTime(),
      }),
    [conversations, leaving, pinned, today],
  );
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => {
      const row = rows[index];
      if (row?.type !== "entry") return HEAD;
      const { running, waiting, unread, broken } = row.conversation;
      return running + waiting + unread > 0 || broken !== undefined ? STANDING : ENTRY;
    },
    getItemKey: (index) => {
      const row = rows[index];
      return row?.type === "entry" ? row.conversation.id : (row?.name ?? index);
    },
    overscan: 12,
  });
  return (
    <section ref={scroller} aria-label={t("All of them")} className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
      {conversations !== undefined && rows.length === 0 && (
        <p className="px-2 py-4 text-soft text-sm">{t("No conversations yet.")}</p>
      )}
      <ul className="relative" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index];
          return (
            <li
              key={key}
              ref={list.measureElement}
              data-index={index}
              className="absolute top-0 start-0 w-full"
              style={{ transform: `translateY(${start}px)` }}
            >
              {row?.type === "entry" && <ConversationEntry conversation={row.conversation} />}
              {row?.type === "head" && <h2 className="px-2 pt-3 pb-1 text-soft text-xs">{row.name}</h2>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Light, dark, or as the system has it (W45). */
function ThemeChoice() {
  const [theme, setTheme] = usePreference("theme");
  return (
    <label className="flex items-center gap-1.5 text-soft text-xs">
      {t("Theme")}
      <Select isSmall isQuiet value={theme} onChange={({ target }) => setTheme(target.value as Preferences["theme"])}>
        <option value="system">{t("System")}</option>
        <option value="light">{t("Light")}</option>
        <option value="dark">{t("Dark")}</option>
      </Select>
    </label>
  );
}

/** For a while after a conversation was removed: the way back (W55). */
function RemovedConversation() {
  const page = usePage();
  const leaving = usePageState((state) => state.leaving);
  return (
    <div role="status">
      {leaving && (
        <p className="mx-2 mb-2 flex items-center gap-2 rounded-md bg-sunken px-3 py-1.5 text-sm">
          <span className="min-w-0 flex-1 truncate">{t("Removed: {title}", { title: leaving.title })}</span>
          <Button isSmall look="quiet" onClick={() => page.removal.undo()}>
            {t("Undo")}
          </Button>
        </p>
      )}
    </div>
  );
}
