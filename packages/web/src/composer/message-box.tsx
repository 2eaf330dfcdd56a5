import { type Reference, referencedPath, referencesIn } from "@banyan/client/words";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  Suspense,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import { lazily } from "../parts/browser/lazily.ts";
import { IconButton } from "../parts/design/button.tsx";
import { usePage } from "../parts/page/page.ts";
import { useIsTouch } from "../parts/page/preferences.ts";
import { t } from "../parts/phrases/phrases.ts";
import { AttachmentList } from "../transcript/attachment-list.tsx";
import { ACCEPTED, type ComposerAttachments } from "../transcript/attachments.ts";
import type { SlashCommands } from "./commands.ts";
import { Completion } from "./completion.tsx";
import type { PromptToFill } from "./own.ts";

/** The longest pasted text that stays in the box. A longer one would hide the message and becomes an attachment. */
const LONGEST_PASTE = { characters: 4_000, lines: 60 };

const PromptForm = lazily(async () => ({ default: (await import("./prompt-form.tsx")).PromptForm }));

/**
 * The message box, with model choice and buttons. The height of the box does not depend on the available actions (W54).
 */
export function MessageBox({
  box,
  text,
  files,
  commands,
  placeholder,
  isFocused = false,
  keys,
  notice,
  choices,
  ways,
  onChange,
  onKeyDown,
  onEnter,
}: {
  readonly box: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly files: ComposerAttachments;
  readonly commands: SlashCommands;
  readonly placeholder: string;
  readonly isFocused?: boolean;
  readonly keys?: string | undefined;
  readonly notice: string;
  readonly choices?: ReactNode;
  readonly ways: ReactNode;
  onChange(text: string): void;
  onKeyDown?(event: KeyboardEvent<HTMLTextAreaElement>): void;
  /** Sends the text. `isOther`: the user pressed Alt+Enter, which sends in the other way. */
  onEnter(way: { readonly isOther: boolean }): void;
}) {
  const [caret, setCaret] = useCaret(box);
  const [isOver, setOver] = useState(false);
  const named = useNamedFiles(text, caret);
  const chooser = useRef<HTMLInputElement>(null);
  const [prompt, setPrompt] = useState<PromptToFill>();
  const endPrompt = () => {
    setPrompt(undefined);
    box.current?.focus();
  };
  useLayoutEffect(() => {
    if (!isFocused || !box.current) return;
    box.current.focus();
    // The caret goes behind a stored draft, so that typing continues it.
    box.current.setSelectionRange(box.current.value.length, box.current.value.length);
  }, [isFocused, box]);
  const isTouch = useIsTouch();
  const take = (taken: string, at: number) => {
    // The box must have the text before the caret moves.
    flushSync(() => {
      setCaret(at);
      onChange(taken);
    });
    box.current?.setSelectionRange(at, at);
  };
  const hasFiles = (data: DataTransfer | null) => data?.types.includes("Files") ?? false;
  return (
    <>
      <Completion commands={commands} text={text} caret={caret} onTake={take} onPrompt={setPrompt} box={box} />
      {prompt && (
        <Suspense fallback={null}>
          <PromptForm
            prompt={prompt}
            onFilled={(filled) => {
              onChange(filled);
              endPrompt();
            }}
            onClose={endPrompt}
          />
        </Suspense>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: files can also be chosen with the button, or pasted. */}
      <div
        onDragOver={(event) => {
          if (!hasFiles(event.dataTransfer)) return;
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          setOver(false);
          if (!hasFiles(event.dataTransfer)) return;
          event.preventDefault();
          files.add(event.dataTransfer.files);
        }}
        className={`rounded-2xl border bg-surface shadow-lying has-[textarea:focus-visible]:border-leaf has-[textarea:focus-visible]:outline-1 has-[textarea:focus-visible]:outline-leaf ${isOver ? "border-leaf" : "border-line"}`}
      >
        <AttachmentList
          files={files}
          named={named}
          onUnname={({ text: typed }) => {
            onChange(text.replaceAll(typed, "").replaceAll(/ {2,}/g, " ").trimStart());
            box.current?.focus();
          }}
        />
        <textarea
          ref={box}
          id="composer"
          dir="auto"
          value={text}
          onChange={({ target }) => {
            setCaret(target.selectionEnd);
            onChange(target.value);
          }}
          // On-screen keyboards have no Shift+Enter: their Enter makes a new line, and the button sends (W91).
          enterKeyHint={isTouch ? "enter" : "send"}
          onKeyDown={(event) => {
            const isSent = event.key === "Enter" && !event.shiftKey && (!isTouch || event.ctrlKey || event.metaKey);
            if (!isSent) return onKeyDown?.(event);
            event.preventDefault();
            onEnter({ isOther: event.altKey });
          }}
          onPaste={(event) => {
            const pasted = event.clipboardData.getData("text/plain");
            if (hasFiles(event.clipboardData)) files.add(event.clipboardData.files);
            else if (pasted.length > LONGEST_PASTE.characters || pasted.split("\n").length > LONGEST_PASTE.lines)
              files.addText(pasted);
            else return;
            event.preventDefault();
          }}
          rows={Math.min(10, Math.max(2, text.split("\n").length))}
          placeholder={placeholder}
          aria-label={t("Message")}
          aria-describedby="composer-keys"
          // The box grows with its text if the browser supports that, otherwise with its line breaks.
          className="field-sizing-content block max-h-62.5 min-h-16 w-full short:min-h-9 short:pt-2 resize-none bg-transparent px-4 pt-3.5 text-read outline-none placeholder:text-soft"
        />
        <div className="flex min-h-12 flex-wrap items-center gap-1 px-2 pb-2">
          <IconButton name={t("Attach files")} icon="attach" onClick={() => chooser.current?.click()} />
          <input
            ref={chooser}
            type="file"
            multiple
            accept={ACCEPTED}
            aria-label={t("Files to attach")}
            hidden
            onChange={({ target }) => {
              files.add(target.files ?? []);
              target.value = "";
              box.current?.focus();
            }}
          />
          {choices}
          <span className="flex grow items-center justify-end gap-1.5">{ways}</span>
        </div>
      </div>
      <p id="composer-keys" className="px-2 text-center text-soft text-xs max-sm:sr-only">
        {notice ||
          (isTouch
            ? t("Enter starts a new line, the button sends")
            : (keys ?? t("Enter sends, Shift+Enter makes a new line")))}
      </p>
    </>
  );
}

/** Returns the caret position. Uses `selectionchange`, because Preact's `onSelect` fires only for a selected text (W85). */
function useCaret(box: RefObject<HTMLTextAreaElement | null>) {
  const [caret, setCaret] = useState(0);
  useEffect(() => {
    const moved = () => {
      if (box.current && document.activeElement === box.current) setCaret(box.current.selectionEnd);
    };
    document.addEventListener("selectionchange", moved);
    return () => document.removeEventListener("selectionchange", moved);
  }, [box]);
  return [caret, setCaret] as const;
}

/** Returns the existing files, file patterns and pages that a message names with `@` (W66), except the name being typed. */
function useNamedFiles(text: string, caret: number): readonly Reference[] {
  const { connection } = usePage();
  const [isThere, setThere] = useState<ReadonlyMap<string, boolean>>(new Map());
  const named = referencesIn(text).filter(({ at, text: typed }) => at + typed.length < caret || at > caret);
  const unknown = named.find(({ name }) => mayBeFile(name) && !isThere.has(name))?.name;
  useEffect(() => {
    if (unknown === undefined) return;
    let isWanted = true;
    const know = (there: boolean) => {
      if (isWanted) setThere((before) => new Map(before).set(unknown, there));
    };
    const wanted = referencedPath(unknown);
    connection.ask("file.find", { query: wanted, limit: 20 }).then(
      ({ files }) => know(files.some((path) => path === wanted || path === `${wanted}/`)),
      // Without a server, the name counts as a word; sending reports what the server finds.
      () => know(false),
    );
    return () => {
      isWanted = false;
    };
  }, [connection, unknown]);
  const once = new Map(named.map((reference) => [reference.name, reference]));
  return [...once.values()].filter(({ name }) => !mayBeFile(name) || isThere.get(name));
}

function mayBeFile(name: string): boolean {
  return !/^https?:\/\/|[*?{[]/.test(name);
}
