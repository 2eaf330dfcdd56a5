import { useState } from "react";
import { takesFocus } from "../parts/browser/focus-on.ts";
import { Button } from "../parts/design/button.tsx";
import { TextField } from "../parts/design/field.tsx";
import { t } from "../parts/phrases/phrases.ts";
import { type PromptToFill, valueIn } from "./own.ts";

export function PromptForm({
  prompt,
  onFilled,
  onClose,
}: {
  readonly prompt: PromptToFill;
  onFilled(text: string): void;
  onClose(): void;
}) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  return (
    <form
      aria-label={`/${prompt.name}`}
      className="flex flex-col gap-2 rounded-xl border border-hair bg-raised p-3 text-sm"
      onKeyDown={({ key }) => {
        if (key === "Escape") onClose();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        onFilled(prompt.filled(values));
      }}
    >
      {prompt.fields.map(({ name, description, required }, index) => (
        <label key={name} className="flex flex-col">
          {required ? name : t("{name} (optional)", { name })}
          {description !== "" && <span className="text-soft text-xs">{description}</span>}
          <TextField
            ref={index === 0 ? takesFocus : null}
            required={required}
            value={valueIn(values, name) ?? ""}
            onChange={({ target }) => setValues({ ...values, [name]: target.value })}
          />
        </label>
      ))}
      <span className="flex gap-1">
        <Button type="submit" look="main">
          {t("Insert")}
        </Button>
        <Button onClick={onClose}>{t("Cancel")}</Button>
      </span>
    </form>
  );
}
