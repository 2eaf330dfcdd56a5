import { createId } from "@banyan/core/conversation";
import { Suspense, useState } from "react";
import { lazily } from "../parts/browser/lazily.ts";
import { useUsualModel } from "../parts/conversation/use-models.ts";
import { usePopover } from "../parts/design/disclosure.tsx";
import { Select } from "../parts/design/field.tsx";
import { Icon } from "../parts/design/icon.tsx";
import { usePage, usePageState } from "../parts/page/page.ts";
import { useMay } from "../parts/page/use-may.ts";
import { useServerAnswer } from "../parts/page/use-server-answer.ts";
import { t } from "../parts/phrases/phrases.ts";
import { type Preset, type TurnMode, usePresets } from "./own.ts";

const ModelPicker = lazily(async () => ({ default: (await import("./model-picker.tsx")).ModelPicker }));

/** Shows the model of the message box; a click lists the other models (W64). */
export function ModelChoice({
  conversation,
  model,
  onChoose,
}: {
  /** The conversation whose model changes; without it, `onChoose` gets the choice. */
  readonly conversation?: string;
  readonly model: string | undefined;
  onChoose?(model: string): void;
}) {
  const page = usePage();
  const may = useMay();
  const usual = useUsualModel();
  const { isOpen, setOpen, close, whole, button } = usePopover();
  const used = model ?? usual;
  if (used === undefined) return null;
  const name = used.slice(used.indexOf("/") + 1);
  if (!may("model.use")) return <span className="px-1.5 text-soft text-xs">{name}</span>;
  const choose = (chosen: string) => {
    close();
    if (onChoose) onChoose(chosen);
    else page.told(page.connection.ask("model.use", { model: chosen, ...(conversation ? { conversation } : {}) }));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the list, whichever element has the focus.
    <div
      ref={whole}
      className="relative min-w-0"
      onKeyDown={({ key }) => {
        if (key === "Escape" && isOpen) close();
      }}
    >
      <button
        ref={button}
        type="button"
        id="model"
        aria-label={t("Model: {used}", { used })}
        aria-expanded={isOpen}
        title={used}
        onClick={() => setOpen(!isOpen)}
        className="inline-flex min-h-8 max-w-full items-center gap-1 rounded-md px-2 font-medium text-soft text-xs hover:bg-sunken hover:text-ink aria-expanded:bg-sunken"
      >
        <span className="max-w-44 truncate">{name}</span>
        <Icon of="open" />
      </button>
      {isOpen && (
        <div className="fixed inset-x-2 bottom-2 z-20 max-h-[70vh] rounded-xl border border-hair bg-surface shadow-open sm:absolute sm:inset-x-auto sm:bottom-full sm:start-0 sm:mb-2 sm:w-96">
          <Suspense fallback={<p className="p-4 text-soft text-sm">{t("Loading …")}</p>}>
            <ModelPicker used={used} onChoose={choose} />
          </Suspense>
        </div>
      )}
    </div>
  );
}

export function ModeChoice({ mode, onChange }: { readonly mode: TurnMode; onChange(mode: TurnMode): void }) {
  return (
    <Select
      isSmall
      isQuiet
      aria-label={t("Mode")}
      title={t("Chat: the agent answers and waits for you. Task: it works until the task is done.")}
      value={mode}
      onChange={({ target }) => onChange(target.value as TurnMode)}
    >
      <option value="chat">{t("Chat")}</option>
      <option value="task">{t("Task")}</option>
    </Select>
  );
}

/** Returns whether branches can have git worktrees: the workspace is a repository, and the user may create some. */
export function useWorktrees(): boolean {
  const may = useMay();
  const isOpen = usePageState((state) => state.connection.phase === "open");
  const isAsked = isOpen && may("worktree.open") && may("worktree.list");
  // A conversation with a new id has no worktrees, so this is a cheap request that fails without a repository.
  const [conversation] = useState(createId);
  return useServerAnswer("worktree.list", isAsked ? { conversation } : undefined).answer !== undefined;
}

export function FilesChoice({ isApart, onChange }: { readonly isApart: boolean; onChange(isApart: boolean): void }) {
  return (
    <Select
      isSmall
      isQuiet
      aria-label={t("Files")}
      title={t("In a copy, your own files stay unchanged until you bring the changes over")}
      value={isApart ? "apart" : "here"}
      onChange={({ target }) => onChange(target.value === "apart")}
    >
      <option value="here">{t("In this folder")}</option>
      <option value="apart">{t("In a copy")}</option>
    </Select>
  );
}

export function PresetChoice({ onChoose }: { onChoose(preset: Preset): void }) {
  const [presets] = usePresets();
  if (presets.length === 0) return null;
  return (
    <Select
      isSmall
      isQuiet
      aria-label={t("Preset")}
      value=""
      onChange={({ target }) => {
        const preset = presets.find(({ name }) => name === target.value);
        if (preset) onChoose(preset);
      }}
    >
      <option value="">{t("Preset")}</option>
      {presets.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </Select>
  );
}
