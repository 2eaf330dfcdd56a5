import { type RefObject, useId, useLayoutEffect, useState } from "react";
import { t } from "../parts/phrases/phrases.ts";
import type { SlashCommands } from "./commands.ts";
import type { PromptToFill } from "./own.ts";
import { useSuggestions, wordBefore } from "./use-suggestions.ts";

const KINDS = { Commands: t("Commands"), Files: t("Files"), Pages: t("Pages") } as const;

/** Completes the word before the caret. Arrow keys choose, Tab and Enter accept, Escape closes (W43). */
export function Completion({
  commands,
  text,
  caret,
  onTake,
  onPrompt,
  box,
}: {
  readonly commands: SlashCommands;
  readonly text: string;
  readonly caret: number;
  onTake(text: string, caret: number): void;
  onPrompt(prompt: PromptToFill): void;
  readonly box: RefObject<HTMLTextAreaElement | null>;
}) {
  const list = useId();
  const word = wordBefore(caret, text);
  const { kind, options, isMerelyOffered = false } = useSuggestions(word, text, commands);
  const [chosen, setChosen] = useState<{ readonly word: string; readonly at: number }>();
  const [left, setLeft] = useState<string>();
  const isOpen = options.length > 0 && left !== word && !options.some((option) => option.text === word);
  const first = isMerelyOffered ? -1 : 0;
  const at = chosen?.word === word ? Math.min(chosen.at, options.length - 1) : first;
  const take = (index: number) => {
    const { text: chosen = word, prompt } = options[index] ?? {};
    if (prompt && prompt.fields.length > 0) {
      onTake("", 0);
      return onPrompt(prompt);
    }
    const before =
      text.slice(0, caret - word.length) + chosen + (kind === "Commands" || chosen.endsWith("/") ? "" : " ");
    onTake(before + text.slice(caret), before.length);
  };
  // A layout effect runs before the next key; a later effect would act on an older word.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !isOpen) return;
    const onKeyDown = (event: KeyboardEvent) => {
      const { key } = event;
      const takes = !event.shiftKey && (key === "Tab" || (key === "Enter" && at >= 0));
      const { length } = options;
      if (key === "ArrowDown") setChosen({ word, at: (at + 1) % length });
      else if (key === "ArrowUp") setChosen({ word, at: (Math.max(at, 0) + length - 1) % length });
      else if (key === "Escape") setLeft(word);
      else if (takes) {
        // The page may lag behind the typing: then the list belongs to another word.
        if (element.value === text && element.selectionEnd === caret) take(Math.max(at, 0));
      } else return;
      event.preventDefault();
      event.stopPropagation();
    };
    // Capture the key before the message box handles it.
    element.addEventListener("keydown", onKeyDown, { capture: true });
    if (at >= 0) element.setAttribute("aria-activedescendant", `${list}-${at}`);
    element.setAttribute("aria-controls", list);
    return () => {
      element.removeEventListener("keydown", onKeyDown, { capture: true });
      element.removeAttribute("aria-activedescendant");
      element.removeAttribute("aria-controls");
    };
  });
  if (!isOpen) return null;
  return (
    <div
      id={list}
      role="listbox"
      aria-label={KINDS[kind]}
      className="max-h-64 overflow-y-auto rounded-md border border-line bg-raised p-1 text-sm"
    >
      {options.map(({ label, does }, index) => (
        <div
          key={label}
          id={`${list}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          ref={(option) => {
            if (index === at) option?.scrollIntoView({ block: "nearest" });
          }}
          onPointerDown={(event) => {
            event.preventDefault();
            take(index);
          }}
          className={`flex cursor-pointer flex-wrap gap-x-3 rounded px-2 py-1 ${index === at ? "bg-leaf-ground" : ""}`}
        >
          <span className="truncate font-mono text-xs leading-5">{label}</span>
          {does !== undefined && <span className="text-soft">{does}</span>}
        </div>
      ))}
    </div>
  );
}
