import type { ListedConversation } from "@banyan/protocol";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import { PageLink } from "../../parts/browser/navigation.tsx";
import { Button, IconButton } from "../../parts/design/button.tsx";
import { Select, TextField } from "../../parts/design/field.tsx";
import { Icon } from "../../parts/design/icon.tsx";
import { usePage, usePageState } from "../../parts/page/page.ts";
import { type Preferences, usePreference } from "../../parts/page/preferences.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { t, tCount } from "../../parts/phrases/phrases.ts";
import { ConversationEntry, useKeptIds } from "./conversation-entry.tsx";
import { listRows } from "./days.ts";
import { ImportConversation } from "./import-conversation.tsx";
import { NewConversation } from "./new-conversation.tsx";
import { SearchHits } from "./search-hits.tsx";

/** The list of all conversations, or the hits of a search. */
export function ConversationList() {
  const [query, setQuery] = useState("");
  const wanted = query.trim();
  const [chosen, setChosen] = useState<ReadonlySet<string>>();
  const [showsPrograms, setShowsPrograms] = useState(false);
  const ofPrograms = usePageState(({ conversations = [] }) => conversations.filter(isOfProgram).length);
  return (
    <>
      <div className="flex flex-col gap-1.5 p-3 pb-2">
        <PageLink to={{}} className="flex min-h-8 items-center gap-2 px-2 font-semibold text-lg">
          <img src="/icon.svg" alt="" className="size-6" />
          Banyan
        </PageLink>
        <NewConversation />
        <div className="flex gap-1">
          <span className="flex min-w-0 flex-1 flex-col">
            <TextField
              id="search"
              type="search"
              value={query}
              onChange={({ target }) => setQuery(target.value)}
              placeholder={t("Search all conversations")}
              aria-label={t("Search all conversations")}
            />
          </span>
          <IconButton
            name={t("Select several")}
            icon="several"
            aria-pressed={chosen !== undefined}
            onClick={() => setChosen(chosen ? undefined : new Set())}
          />
        </div>
      </div>
      {wanted === "" ? (
        <Days chosen={chosen} onChoose={setChosen} showsPrograms={showsPrograms} />
      ) : (
        <SearchHits query={wanted} programs={showsPrograms} />
      )}
      {ofPrograms > 0 && (
        <div className="px-3 pb-1">
          <Button isSmall look="quiet" aria-pressed={showsPrograms} onClick={() => setShowsPrograms(!showsPrograms)}>
            {tCount(ofPrograms, "{count} conversation from programs", "{count} conversations from programs")}
          </Button>
        </div>
      )}
      {chosen && <ChosenOnes chosen={chosen} onDone={() => setChosen(undefined)} />}
      <RemovedConversation />
      <div className="flex items-center justify-between gap-2 border-hair border-t px-3 py-2">
        <ThemeChoice />
        <ImportConversation />
      </div>
    </>
  );
}

const isOfProgram = ({ labels }: ListedConversation) => labels.program !== undefined;

/** Heights of rows in pixels: a heading, a conversation, and a conversation with a status. */
const HEAD = 32;
const ENTRY = 36;
const STANDING = 54;

function Days({
  chosen,
  onChoose,
  showsPrograms,
}: {
  readonly chosen: ReadonlySet<string> | undefined;
  onChoose(chosen: ReadonlySet<string>): void;
  readonly showsPrograms: boolean;
}) {
  const conversations = usePageState((state) => state.conversations);
  const leaving = usePageState((state) => state.leaving?.conversations);
  const [pinned] = useKeptIds("pinned");
  const [archived] = useKeptIds("archived");
  const [isArchiveOpen, setArchiveOpen] = useState(false);
  const scroller = useRef<HTMLElement>(null);
  const today = new Date().toDateString();
  const rows = useMemo(
    () =>
      listRows(
        conversations?.filter((each) => !leaving?.includes(each.id) && (showsPrograms || !isOfProgram(each))) ?? [],
        {
          pinned: new Set(pinned),
          archived: new Set(archived),
          isArchiveOpen,
          now: new Date(today).getTime(),
        },
      ),
    [conversations, leaving, showsPrograms, pinned, archived, isArchiveOpen, today],
  );
  const list = useVirtualizer({
    // Rows that are measured together are rendered together.
    useFlushSync: false,
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
      if (row?.type === "entry") return row.conversation.id;
      return row?.type === "head" ? row.name : index;
    },
    overscan: 12,
  });
  return (
    <section ref={scroller} aria-label={t("All conversations")} className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
      {conversations !== undefined && rows.length === 0 && (
        <p className="px-2 py-4 text-soft text-sm">{t("No conversations yet.")}</p>
      )}
      <ul hidden={rows.length === 0} className="relative" style={{ height: list.getTotalSize() }}>
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
              {row?.type === "entry" && (
                <ConversationEntry
                  conversation={row.conversation}
                  isChosen={chosen?.has(row.conversation.id) ?? false}
                  onChoose={chosen && (() => onChoose(chosen.symmetricDifference(new Set([row.conversation.id]))))}
                />
              )}
              {row?.type === "archive" && (
                <button
                  type="button"
                  aria-expanded={isArchiveOpen}
                  onClick={() => setArchiveOpen(!isArchiveOpen)}
                  className="mt-2 flex min-h-6 items-center gap-1 rounded-md px-2 text-soft text-xs hover:bg-sunken hover:text-ink"
                >
                  <Icon of={isArchiveOpen ? "open" : "fold"} />
                  {tCount(row.count, "{count} archived", "{count} archived")}
                </button>
              )}
              {row?.type === "head" && <h2 className="px-2 pt-3 pb-1 text-soft text-xs">{row.name}</h2>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function ChosenOnes({ chosen, onDone }: { readonly chosen: ReadonlySet<string>; onDone(): void }) {
  const page = usePage();
  const may = useMay();
  const [archived, archive] = useKeptIds("archived");
  const ids = [...chosen];
  const isAway = ids.length > 0 && ids.every((id) => archived.includes(id));
  return (
    <section aria-label={t("Selected conversations")} className="flex flex-wrap items-center gap-1 px-3 py-2 text-sm">
      <span role="status" className="me-auto">
        {tCount(ids.length, "{count} selected", "{count} selected")}
      </span>
      <Button
        isSmall
        disabled={ids.length === 0}
        onClick={() => {
          archive(ids, !isAway);
          onDone();
        }}
      >
        {isAway ? t("Unarchive") : t("Archive")}
      </Button>
      {may("conversation.remove") && (
        <Button
          isSmall
          look="bad"
          disabled={ids.length === 0}
          onClick={() => {
            page.removal.begin(ids, tCount(ids.length, "{count} conversation", "{count} conversations"));
            onDone();
          }}
        >
          {t("Remove")}
        </Button>
      )}
      <Button isSmall look="quiet" onClick={onDone}>
        {t("Close")}
      </Button>
    </section>
  );
}

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
