import { type Reference, referencedPath, referencesIn } from "@banyan/core/shown";
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
import { IconButton } from "../design/button.tsx";
import { usePage } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import { lazily } from "../shell/lazily.ts";
import { useIsTouch } from "../shell/preferences.ts";
import { AttachmentList } from "./attachment-list.tsx";
import { ACCEPTED, type Attachments } from "./attachments.ts";
import type { SlashCommands } from "./commands.ts";
import { Completion } from "./completion.tsx";
import type { PromptToFill } from "./own.ts";

/** Characters and lines of a text that is pasted as it is; a longer one would hide what is written, and goes along as a file. */
const LONGEST_PASTE = { characters: 4_000, lines: 60 };

function isLong(text: string): boolean {
  return text.length > LONGEST_PASTE.characters || text.split("\n").length > LONGEST_PASTE.lines;
}

const PromptForm = lazily(async () => ({ default: (await import("./prompt-form.tsx")).PromptForm }));

/**
 * The box in which a message is written: its text, what completes it, the files that go along, and what can be chosen and done
 * below it. It has the same height whatever can be done (W54).
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
  readonly files: Attachments;
  readonly commands: SlashCommands;
  readonly placeholder: string;
  /** It has the focus when it is first shown. */
  readonly isFocused?: boolean;
  /** The effects of Enter, if it does more than send. */
  readonly keys?: string | undefined;
  /** Stands in the place of what the keys do. */
  readonly notice: string;
  /** What is chosen before it is sent: the model, say. */
  readonly choices?: ReactNode;
  /** What sends it, or stops what runs. */
  readonly ways: ReactNode;
  onChange(text: string): void;
  onKeyDown?(event: KeyboardEvent<HTMLTextAreaElement>): void;
  /** The user sends the text, or, with Alt, sends it in the other way. */
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
    // Behind what another page has kept: the next key goes on with it.
    box.current.setSelectionRange(box.current.value.length, box.current.value.length);
  }, [isFocused, box]);
  const isTouch = useIsTouch();
  const take = (taken: string, at: number) => {
    // The box has the text before the caret can stand behind a part of it.
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
      {/* biome-ignore lint/a11y/noStaticElementInteractions: files can be chosen with the button, and pasted, as well. */}
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
          // A keyboard on a screen has no Shift+Enter: its Enter makes a new line, and the button sends (W91).
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
            else if (isLong(pasted)) files.addText(pasted);
            else return;
            event.preventDefault();
          }}
          rows={Math.min(10, Math.max(2, text.split("\n").length))}
          placeholder={placeholder}
          aria-label={t("Message")}
          aria-describedby="composer-keys"
          // As high as its text, where the browser can do that; by its line breaks otherwise.
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

/**
 * The place of the caret in a box. The browser tells of each move as a selection that has changed: the `onSelect` of React, which
 * does the same, is a listener to marked text alone in Preact (W85).
 */
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

/**
 * What a message names with `@` and that goes along with it: files and folders that are there, patterns of files, pages (W66).
 * A name that is still being written is none yet.
 */
function useNamedFiles(text: string, caret: number): readonly Reference[] {
  const { connection } = usePage();
  const [isThere, setThere] = useState<ReadonlyMap<string, boolean>>(new Map());
  const named = referencesIn(text).filter(({ at, text: typed }) => at + typed.length < caret || at > caret);
  const unknown = named.find(({ name }) => isFile(name) && !isThere.has(name))?.name;
  useEffect(() => {
    if (unknown === undefined) return;
    let isWanted = true;
    const know = (there: boolean) => {
      if (isWanted) setThere((before) => new Map(before).set(unknown, there));
    };
    const wanted = referencedPath(unknown);
    connection.ask("file.find", { query: wanted, limit: 20 }).then(
      ({ files }) => know(files.some((path) => path === wanted || path === `${wanted}/`)),
      // Without the server it is a word; what the server makes of it is told when it is said.
      () => know(false),
    );
    return () => {
      isWanted = false;
    };
  }, [connection, unknown]);
  const once = new Map(named.map((reference) => [reference.name, reference]));
  return [...once.values()].filter(({ name }) => !isFile(name) || isThere.get(name));
}

/** Pages, and patterns of several files, are not looked for: they go along as they are written. */
function isFile(name: string): boolean {
  return !/^https?:\/\/|[*?{[]/.test(name);
}
