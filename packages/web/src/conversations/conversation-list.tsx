import type { ListedConversation } from "@banyan/protocol";
import { Link } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { usePageState } from "../page.ts";
import { type Preferences, usePreference } from "../shell/preferences.ts";
import { Spinner } from "../transcript/versions.tsx";
import { useMay } from "../use-may.ts";
import { ImportConversation } from "./import-conversation.tsx";
import { NewConversation } from "./new-conversation.tsx";
import { SearchHits } from "./search-hits.tsx";

/** All conversations, or what a search finds in them. */
export function ConversationList() {
  const conversations = usePageState((state) => state.conversations);
  const [query, setQuery] = useState("");
  const wanted = useDeferredValue(query.trim());
  return (
    <>
      <div className="flex flex-col gap-2 p-3">
        <Link to="/" className="flex items-center gap-2 px-1 pb-1 font-semibold">
          <img src="/icon.svg" alt="" className="size-6" />
          Banyan
        </Link>
        <NewConversation />
        <input
          type="search"
          value={query}
          onChange={({ target }) => setQuery(target.value)}
          placeholder="Search all conversations"
          aria-label="Search all conversations"
          className="rounded-md border border-line bg-ground px-2 py-1.5 text-sm"
        />
      </div>
      {wanted === "" ? (
        <ul className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
          {conversations?.map((conversation) => (
            <li key={conversation.id}>
              <Entry conversation={conversation} />
            </li>
          ))}
          {conversations?.length === 0 && <li className="px-2 py-4 text-sm text-soft">No conversations yet.</li>}
        </ul>
      ) : (
        <SearchHits query={wanted} />
      )}
      <div className="flex items-center justify-between gap-2 border-hair border-t p-3">
        <ThemeChoice />
        <ImportConversation />
      </div>
    </>
  );
}

function Entry({ conversation }: { readonly conversation: ListedConversation }) {
  const { id, title, running, waiting, unread, updatedAt, broken } = conversation;
  const may = useMay();
  return (
    <Link
      to="/c/$conversation"
      params={{ conversation: id }}
      activeProps={{ className: "bg-leaf-ground", "aria-current": "page" }}
      className="mb-0.5 block rounded-md px-2 py-1.5 text-sm hover:bg-sunken"
    >
      {({ isActive }) => (
        <>
          {/* What is in view is about to have been read. */}
          <Title title={title || "New conversation"} unread={isActive ? 0 : unread} />
          <span className="flex flex-wrap gap-x-2 whitespace-nowrap text-soft text-xs">
            <time dateTime={new Date(updatedAt).toISOString()}>{whenOf(updatedAt)}</time>
            {running > 0 && (
              <span className="flex items-center gap-1 text-leaf">
                <Spinner name="It runs" /> running
              </span>
            )}
            {running === 0 && broken !== undefined && (
              <span className={broken === "failed" ? "text-bad" : "text-warn"}>{BROKEN[broken]}</span>
            )}
            {waiting > 0 && (
              <span className="text-warn">
                {may("question.answer") ? `${waiting} waiting for you` : `${waiting} waiting`}
              </span>
            )}
          </span>
        </>
      )}
    </Link>
  );
}

/** Why the last turn did not come to its answer. */
const BROKEN: Readonly<Record<NonNullable<ListedConversation["broken"]>, string>> = {
  failed: "failed",
  limit: "stopped at a limit",
  interrupted: "interrupted",
};

function Title({ title, unread }: { readonly title: string; readonly unread: number }) {
  return (
    <span className="flex items-baseline gap-2">
      <span className={`min-w-0 flex-1 truncate ${unread > 0 ? "font-semibold" : ""}`}>{title}</span>
      {unread > 0 && (
        <span className="whitespace-nowrap rounded-full border border-leaf px-1.5 text-[0.6875rem] text-leaf">
          {unread} unread
        </span>
      )}
    </span>
  );
}

/** A time for people: of today the hour, otherwise the day. */
function whenOf(at: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

/** Light, dark, or as the system has it (W45). */
function ThemeChoice() {
  const [theme, setTheme] = usePreference("theme");
  return (
    <label className="flex items-center gap-1 text-soft text-xs">
      Theme
      <select
        value={theme}
        onChange={({ target }) => setTheme(target.value as Preferences["theme"])}
        className="min-h-6 rounded border border-line bg-ground px-1 text-ink"
      >
        <option value="system">System</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
