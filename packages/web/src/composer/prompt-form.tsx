import { useState } from "react";
import { Button } from "../design/button.tsx";
import { TextField } from "../design/field.tsx";
import { t } from "../phrases/phrases.ts";
import { takesFocus } from "../shell/focus-on.ts";
import { fieldsOf, filledPrompt, type OwnPrompt } from "./own.ts";

/** Asks for the fields of a prompt of one's own, and returns it filled in (W74). */
export function PromptForm({
  prompt,
  onFilled,
  onClose,
}: {
  readonly prompt: OwnPrompt;
  onFilled(text: string): void;
  onClose(): void;
}) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const fields = fieldsOf(prompt);
  return (
    <form
      aria-label={`/${prompt.name}`}
      className="flex flex-col gap-2 rounded-xl border border-hair bg-raised p-3 text-sm"
      onKeyDown={({ key }) => {
        if (key === "Escape") onClose();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        onFilled(filledPrompt(prompt, values));
      }}
    >
      {fields.map((field, index) => (
        <label key={field} className="flex flex-col">
          {field}
          <TextField
            ref={index === 0 ? takesFocus : null}
            required
            value={values[field] ?? ""}
            onChange={({ target }) => setValues({ ...values, [field]: target.value })}
          />
        </label>
      ))}
      <span className="flex gap-1">
        <Button type="submit" look="main">
          {t("Write it")}
        </Button>
        <Button onClick={onClose}>{t("Leave it")}</Button>
      </span>
    </form>
  );
}
