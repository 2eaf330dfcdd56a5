import { actionNamed } from "@banyan/client/actions";
import { type FormEvent, useState } from "react";
import { ModeChoice } from "../composer/model-choice.tsx";
import { type OwnPrompt, PROMPT_NAME, type Preset, useOwnPrompts, usePresets } from "../composer/own.ts";
import { Button } from "../parts/design/button.tsx";
import { TextArea, TextField } from "../parts/design/field.tsx";
import { ErrorText } from "../parts/design/notice.tsx";
import { t } from "../parts/phrases/phrases.ts";

export function OwnPrompts() {
  const [prompts, change] = useOwnPrompts();
  const [edited, setEdited] = useState<OwnPrompt>(NO_PROMPT);
  const [problem, setProblem] = useState<string>();
  const save = (event: FormEvent) => {
    event.preventDefault();
    const name = edited.name.trim().toLowerCase();
    if (!PROMPT_NAME.test(name)) return setProblem(t("Use only letters, digits, - and _ in the name."));
    if (actionNamed(name) !== undefined)
      return setProblem(t("/{name} is already a command. Choose another name.", { name }));
    change([...prompts.filter((other) => other.name !== name), { name, text: edited.text }]);
    setEdited(NO_PROMPT);
    return setProblem(undefined);
  };
  return (
    <section aria-label={t("Your prompts")} className="mt-4 flex flex-col gap-2">
      <h2 className="font-medium">{t("Your prompts")}</h2>
      <p className="text-soft text-xs">
        {t(
          "Type / and the name in the message box to insert a prompt. Banyan asks you for the values of placeholders such as {example}.",
          {
            example: "{file}",
          },
        )}
      </p>
      <Kept
        names={prompts.map(({ name }) => name)}
        sign="/"
        onEdit={(name) => setEdited(prompts.find((prompt) => prompt.name === name) ?? NO_PROMPT)}
        onRemove={(name) => change(prompts.filter((prompt) => prompt.name !== name))}
      />
      <form className="flex flex-col gap-2" onSubmit={save}>
        <TextField
          required
          aria-label={t("Name of the prompt")}
          placeholder={t("Name of the prompt")}
          value={edited.name}
          onChange={({ target }) => setEdited({ ...edited, name: target.value })}
        />
        <TextArea
          required
          rows={3}
          aria-label={t("Text of the prompt")}
          placeholder={t("Text of the prompt")}
          value={edited.text}
          onChange={({ target }) => setEdited({ ...edited, text: target.value })}
        />
        <ErrorText className="text-xs">{problem}</ErrorText>
        <span>
          <Button type="submit">{t("Save prompt")}</Button>
        </span>
      </form>
    </section>
  );
}

const NO_PROMPT: OwnPrompt = { name: "", text: "" };

export function Presets({ model }: { readonly model: string }) {
  const [presets, change] = usePresets();
  const [edited, setEdited] = useState<Preset>({ name: "", model, mode: "chat" });
  return (
    <section aria-label={t("Presets")} className="mt-4 flex flex-col gap-2">
      <h2 className="font-medium">{t("Presets")}</h2>
      <p className="text-soft text-xs">
        {t("A preset is a model and a mode under one name. Choose a preset below the message box.")}
      </p>
      <Kept
        names={presets.map(({ name }) => name)}
        sign=""
        onEdit={(name) => setEdited(presets.find((preset) => preset.name === name) ?? edited)}
        onRemove={(name) => change(presets.filter((preset) => preset.name !== name))}
      />
      <form
        className="flex flex-col gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          const kept = { ...edited, name: edited.name.trim(), model: edited.model.trim() };
          change([...presets.filter(({ name }) => name !== kept.name), kept]);
          setEdited({ ...edited, name: "" });
        }}
      >
        <TextField
          required
          maxLength={60}
          pattern=".*\S.*"
          aria-label={t("Name of the preset")}
          placeholder={t("Name of the preset")}
          value={edited.name}
          onChange={({ target }) => setEdited({ ...edited, name: target.value })}
        />
        <span className="flex items-center gap-2">
          <TextField
            required
            isCode
            pattern="\S+/\S+"
            title="provider/model:effort"
            aria-label={t("Model of the preset")}
            value={edited.model}
            onChange={({ target }) => setEdited({ ...edited, model: target.value })}
          />
          <ModeChoice mode={edited.mode} onChange={(mode) => setEdited({ ...edited, mode })} />
        </span>
        <span>
          <Button type="submit">{t("Save preset")}</Button>
        </span>
      </form>
    </section>
  );
}

function Kept({
  names,
  sign,
  onEdit,
  onRemove,
}: {
  readonly names: readonly string[];
  readonly sign: string;
  onEdit(name: string): void;
  onRemove(name: string): void;
}) {
  if (names.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1">
      {names.map((name) => (
        <li key={name} className="flex items-center gap-1 rounded border border-hair px-2 py-1">
          <span dir="auto" className="min-w-0 flex-1 truncate">
            {sign}
            {name}
          </span>
          <Button isSmall aria-label={t("Edit {name}", { name })} onClick={() => onEdit(name)}>
            {t("Edit")}
          </Button>
          <Button isSmall look="bad" aria-label={t("Remove {name}", { name })} onClick={() => onRemove(name)}>
            {t("Remove")}
          </Button>
        </li>
      ))}
    </ul>
  );
}
