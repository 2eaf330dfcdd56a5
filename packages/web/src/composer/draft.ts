import { useCallback, useSyncExternalStore } from "react";
import { keep, kept } from "../shell/kept.ts";
import type { Attachment } from "./attachments.ts";

/** The parts of a message that are kept until it is sent: its text and its files. */
interface Draft {
  readonly text: string;
  readonly files: readonly Attachment[];
}

/** The place of a message that begins a conversation; any other place is the id of a conversation. */
export const FIRST_PAGE = "first-page";

const NAMES = { text: "draft", files: "draft files" } as const satisfies Record<keyof Draft, string>;

/** Characters of a draft that the browser keeps. Larger files are there until the page is closed: others need room, too. */
const LARGEST = 2_000_000;

/** The names of drafts that a reload loses, because they are too large or the browser has no room. */
const unkept = new Set<string>();

const EMPTY: Draft = { text: "", files: [] };

/** The drafts that this tab has read or written, by their names. */
const drafts = new Map<string, unknown>();
const listeners = new Set<() => void>();

/**
 * A part of the message that a user writes in a place. It survives a reload, and a look elsewhere (W83). Each tab has its own; a
 * tab that has written nothing there begins with what another tab wrote last. `isKept` is false for a part that a reload loses.
 */
export function useDraft<Part extends keyof Draft>(place: string, part: Part) {
  const value = useSyncExternalStore(listen, () => draft(place, part));
  const change = useCallback(
    (next: Draft[Part] | ((before: Draft[Part]) => Draft[Part])) =>
      keepDraft(place, part, typeof next === "function" ? next(draft(place, part)) : next),
    [place, part],
  );
  return [value, change, !unkept.has(nameOf(place, part))] as const;
}

/** The message that is written in one place is written in another from now on, behind what is written there. */
export function moveDraft(from: string, to: string): void {
  keepDraft(to, "text", draft(to, "text") + draft(from, "text"));
  keepDraft(to, "files", [...draft(to, "files"), ...draft(from, "files")]);
  keepDraft(from, "text", "");
  keepDraft(from, "files", []);
}

function nameOf(place: string, part: keyof Draft): string {
  return `${NAMES[part]} ${place}`;
}

function draft<Part extends keyof Draft>(place: string, part: Part): Draft[Part] {
  const name = nameOf(place, part);
  if (!drafts.has(name)) {
    const found = kept(name, "tab") ?? kept(name);
    drafts.set(name, typeof found === "string" || Array.isArray(found) ? found : EMPTY[part]);
  }
  return drafts.get(name) as Draft[Part];
}

/** Keeps a draft before anything is drawn: a page that is closed then has kept the last key. */
function keepDraft<Part extends keyof Draft>(place: string, part: Part, value: Draft[Part]): void {
  const name = nameOf(place, part);
  const before = JSON.stringify(draft(place, part));
  drafts.set(name, value);
  const isSmall = JSON.stringify(value).length <= LARGEST;
  const isKept = value.length > 0 && isSmall;
  const hasRoom = keep(name, isKept ? value : undefined, "tab");
  warnBeforeClosing(name, !hasRoom || !isSmall);
  // A tab does not remove a text that another tab wrote.
  if (isKept || JSON.stringify(kept(name)) === before) keep(name, isKept ? value : undefined);
  for (const listener of listeners) listener();
}

/** The browser asks the user before a reload or the end of the page loses a draft. */
function warnBeforeClosing(name: string, isLost: boolean): void {
  if (isLost) unkept.add(name);
  else unkept.delete(name);
  window.onbeforeunload = unkept.size > 0 ? (event) => event.preventDefault() : null;
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A message that begins a conversation while the conversation is not there yet. */
const BEGINNING = "beginning";

/** Keeps what begins a conversation until the conversation has it: a reload writes it where it was written. */
export function keepBeginning(draft: Draft | undefined): void {
  const hasRoom = keep(BEGINNING, draft, "tab");
  warnBeforeClosing(BEGINNING, !hasRoom);
}

const beginning = kept(BEGINNING, "tab") as Draft | undefined;
if (beginning) giveBack(FIRST_PAGE, beginning);
keepBeginning(undefined);

/** Writes something in a place again, before what has been written there meanwhile. */
export function giveBack(place: string, { text, files }: Draft): void {
  const pieces = [text, draft(place, "text")].filter((piece) => piece !== "");
  keepDraft(place, "text", pieces.join("\n\n"));
  keepDraft(place, "files", [...files, ...draft(place, "files")]);
}
