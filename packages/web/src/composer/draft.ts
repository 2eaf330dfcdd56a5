import { useCallback, useSyncExternalStore } from "react";
import { keepValue, keptValue } from "../parts/browser/kept-value.ts";
import type { Attachment } from "../transcript/attachments.ts";

interface ComposerDraft {
  readonly text: string;
  readonly files: readonly Attachment[];
}

/** Names the draft of a first message, whose conversation does not exist yet. Other drafts have a conversation's id. */
export const FIRST_PAGE = "first-page";

const NAMES = { text: "draft", files: "draft files" } as const satisfies Record<keyof ComposerDraft, string>;

/** Maximum number of characters of a stored draft. Larger drafts last until the page closes, because storage is shared. */
const LARGEST = 2_000_000;

const unkept = new Set<string>();

const EMPTY: ComposerDraft = { text: "", files: [] };

const drafts = new Map<string, unknown>();
const listeners = new Set<() => void>();

/**
 * Returns a part of a draft and its setter. The draft survives reloads and navigation (W83). Each tab has its own
 * draft, which begins with the last draft of any tab. `isKept` is false for a part that a reload would lose.
 */
export function useDraft<Part extends keyof ComposerDraft>(place: string, part: Part) {
  const value = useSyncExternalStore(listenToDraft, () => draft(place, part));
  const change = useCallback(
    (next: ComposerDraft[Part] | ((before: ComposerDraft[Part]) => ComposerDraft[Part])) =>
      keepDraft(place, part, typeof next === "function" ? next(draft(place, part)) : next),
    [place, part],
  );
  return [value, change, !unkept.has(draftKey(place, part))] as const;
}

/** Appends the draft of `from` to the draft of `to`, and clears the draft of `from`. */
export function moveDraft(from: string, to: string): void {
  keepDraft(to, "text", draft(to, "text") + draft(from, "text"));
  keepDraft(to, "files", [...draft(to, "files"), ...draft(from, "files")]);
  keepDraft(from, "text", "");
  keepDraft(from, "files", []);
}

function draftKey(place: string, part: keyof ComposerDraft): string {
  return `${NAMES[part]} ${place}`;
}

function draft<Part extends keyof ComposerDraft>(place: string, part: Part): ComposerDraft[Part] {
  const name = draftKey(place, part);
  if (!drafts.has(name)) {
    const found = keptValue(name, "tab") ?? keptValue(name);
    drafts.set(name, typeof found === "string" || Array.isArray(found) ? found : EMPTY[part]);
  }
  return drafts.get(name) as ComposerDraft[Part];
}

/** Stores a draft before rendering, so that a closing page has stored the last key. */
function keepDraft<Part extends keyof ComposerDraft>(place: string, part: Part, value: ComposerDraft[Part]): void {
  const name = draftKey(place, part);
  const before = JSON.stringify(draft(place, part));
  drafts.set(name, value);
  const isSmall = JSON.stringify(value).length <= LARGEST;
  const isKept = value.length > 0 && isSmall;
  const hasRoom = keepValue(name, isKept ? value : undefined, "tab");
  warnBeforeClosing(name, !hasRoom || !isSmall);
  // A tab must not remove a text that another tab wrote.
  if (isKept || JSON.stringify(keptValue(name)) === before) keepValue(name, isKept ? value : undefined);
  for (const listener of listeners) listener();
}

function warnBeforeClosing(name: string, isLost: boolean): void {
  if (isLost) unkept.add(name);
  else unkept.delete(name);
  window.onbeforeunload = unkept.size > 0 ? (event) => event.preventDefault() : null;
}

function listenToDraft(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const BEGINNING = "beginning";

/** Stores a first message until its conversation contains it, so that a reload restores it to the first page. */
export function keepBeginning(draft: ComposerDraft | undefined): void {
  const hasRoom = keepValue(BEGINNING, draft, "tab");
  warnBeforeClosing(BEGINNING, !hasRoom);
}

const beginning = keptValue(BEGINNING, "tab") as ComposerDraft | undefined;
if (beginning) restoreDraft(FIRST_PAGE, beginning);
keepBeginning(undefined);

/** Puts a draft back into a message box, before text that the user typed there in the meantime. */
export function restoreDraft(place: string, { text, files }: ComposerDraft): void {
  const pieces = [text, draft(place, "text")].filter((piece) => piece !== "");
  keepDraft(place, "text", pieces.join("\n\n"));
  keepDraft(place, "files", [...files, ...draft(place, "files")]);
}
