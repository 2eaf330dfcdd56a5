import type { LiveRun } from "@banyan/core/conversation";
import { useNavigate } from "@tanstack/react-router";
import { type RefObject, useEffect, useId, useState } from "react";
import { useConversation } from "../conversation/use-conversation.ts";
import { usePage } from "../page.ts";

/** Something that is done by writing its name. */
export interface SlashCommand {
  /** Begins with a slash. */
  readonly name: string;
  readonly does: string;
  act(): unknown;
}

/** What can be done from the message box of a branch (W43). */
export function useCommands({
  leaf,
  run,
  stop,
}: {
  readonly leaf: string | null;
  readonly run: LiveRun | undefined;
  stop(): Promise<void>;
}): readonly SlashCommand[] {
  const { connection } = usePage();
  const { id: conversation } = useConversation();
  const navigate = useNavigate();
  const at = leaf === null ? {} : { at: leaf };
  const all: readonly SlashCommand[] = [
    {
      name: "/new",
      does: "Begins another conversation",
      async act() {
        const created = await connection.ask("conversation.create", {});
        await navigate({ to: "/c/$conversation", params: created });
      },
    },
    {
      name: "/retry",
      does: "Asks the last question again",
      act: () => connection.ask("turn.retry", { conversation, ...at }),
    },
    {
      name: "/resume",
      does: "Goes on without a new message",
      act: () => connection.ask("turn.resume", { conversation, ...at }),
    },
    { name: "/stop", does: "Stops what runs on this branch", act: stop },
  ];
  return run
    ? all.filter(({ name }) => name !== "/retry" && name !== "/resume")
    : all.filter(({ name }) => name !== "/stop");
}

/** The commands that begin like what is written. Arrows choose one, Tab and Enter take it, Escape leaves it. */
export function CommandCompletion({
  commands,
  text,
  onChoose,
  box,
}: {
  readonly commands: readonly SlashCommand[];
  readonly text: string;
  onChoose(text: string): void;
  readonly box: RefObject<HTMLTextAreaElement | null>;
}) {
  const list = useId();
  const [chosen, setChosen] = useState(0);
  const [left, setLeft] = useState<string>();
  const fitting = text.startsWith("/") && left !== text ? commands.filter(({ name }) => name.startsWith(text)) : [];
  const isOpen = fitting.length > 0 && !fitting.some(({ name }) => name === text);
  const at = Math.min(chosen, fitting.length - 1);
  useEffect(() => {
    const element = box.current;
    if (!element || !isOpen) return;
    const onKeyDown = (event: KeyboardEvent) => {
      const { key } = event;
      if (key === "ArrowDown") setChosen((at + 1) % fitting.length);
      else if (key === "ArrowUp") setChosen((at + fitting.length - 1) % fitting.length);
      else if (key === "Escape") setLeft(text);
      else if (key === "Tab" || key === "Enter") onChoose(fitting[at]?.name ?? text);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    // Before the message box itself acts on the key.
    element.addEventListener("keydown", onKeyDown, { capture: true });
    element.setAttribute("aria-activedescendant", `${list}-${at}`);
    element.setAttribute("aria-controls", list);
    return () => {
      element.removeEventListener("keydown", onKeyDown, { capture: true });
      element.removeAttribute("aria-activedescendant");
      element.removeAttribute("aria-controls");
    };
  });
  if (!isOpen) return null;
  return (
    <div id={list} role="listbox" aria-label="Commands" className="rounded-md border border-line bg-raised p-1 text-sm">
      {fitting.map(({ name, does }, index) => (
        <div
          key={name}
          id={`${list}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          onPointerDown={(event) => {
            event.preventDefault();
            onChoose(name);
          }}
          className={`flex cursor-pointer gap-3 rounded px-2 py-1 ${index === at ? "bg-leaf-ground" : ""}`}
        >
          <span className="font-mono">{name}</span>
          <span className="text-soft">{does}</span>
        </div>
      ))}
    </div>
  );
}
