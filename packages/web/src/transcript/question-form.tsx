import { type FilledField, filledText } from "@banyan/client/words";
import type { QuestionField } from "@banyan/core/conversation";
import { visibleLine, visibleText } from "@banyan/core/shown";
import { useId, useState } from "react";
import { Button } from "../parts/design/button.tsx";
import { TextField } from "../parts/design/field.tsx";
import { ErrorText } from "../parts/design/notice.tsx";
import { t } from "../parts/phrases/phrases.ts";

const NOTHING: FilledField = { chosen: [], words: "" };

/** Several questions of a tool at once, each with choices and a text field (C12). */
export function QuestionForm({
  text,
  fields,
  problem,
  onAnswer,
  onDecline,
}: {
  readonly text: string;
  readonly fields: readonly QuestionField[];
  readonly problem: string | undefined;
  onAnswer(text: string): void;
  onDecline(): void;
}) {
  const [filled, setFilled] = useState<readonly FilledField[]>(() => fields.map(() => NOTHING));
  const label = useId();
  const answer = filledText(fields, filled);
  return (
    <form
      aria-labelledby={label}
      className="flex min-w-0 flex-col gap-3 border-hair border-t bg-warn-ground/50 px-3 py-3 text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        if (answer !== undefined) onAnswer(answer);
      }}
    >
      <p id={label} className="whitespace-pre-wrap font-medium [overflow-wrap:anywhere] [unicode-bidi:plaintext]">
        {visibleText(text)}
      </p>
      {fields.map((field, index) => (
        <Field
          key={field.heading}
          field={field}
          filled={filled[index] ?? NOTHING}
          onFill={(said) => setFilled(filled.with(index, said))}
        />
      ))}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="main" disabled={answer === undefined}>
          {t("Answer")}
        </Button>
        <Button onClick={onDecline}>{t("Skip")}</Button>
      </div>
      <ErrorText className="text-xs">{problem}</ErrorText>
    </form>
  );
}

function Field({
  field: { heading, text, choices, several = false },
  filled: { chosen, words },
  onFill,
}: {
  readonly field: QuestionField;
  readonly filled: FilledField;
  onFill(filled: FilledField): void;
}) {
  const id = useId();
  const choose = (label: string, isChosen: boolean) => {
    const others = several ? chosen.filter((one) => one !== label) : [];
    const wanted = isChosen ? [...others, label] : others;
    onFill({ chosen: choices.map((choice) => choice.label).filter((one) => wanted.includes(one)), words });
  };
  return (
    <fieldset aria-describedby={`${id}-text`} className="flex min-w-0 flex-col gap-1.5">
      <legend className="font-semibold [overflow-wrap:anywhere]">{visibleLine(heading)}</legend>
      <p id={`${id}-text`} className="whitespace-pre-wrap [overflow-wrap:anywhere] [unicode-bidi:plaintext]">
        {visibleText(text)}
        {several && ` ${t("(one or more)")}`}
      </p>
      {choices.map(({ label, description }) => (
        <label key={label} className="flex min-h-6 items-baseline gap-2 [overflow-wrap:anywhere]">
          <input
            type={several ? "checkbox" : "radio"}
            name={id}
            checked={chosen.includes(label)}
            onChange={({ target }) => choose(label, target.checked)}
          />
          <span className="min-w-0">
            <span className="font-medium">{visibleLine(label)}</span>
            {description !== undefined && <span className="text-soft"> {visibleLine(description)}</span>}
          </span>
        </label>
      ))}
      {!several && (
        <label className="flex min-h-6 items-baseline gap-2">
          <input type="radio" name={id} checked={chosen.length === 0} onChange={() => onFill({ chosen: [], words })} />
          <span>{t("Something else")}</span>
        </label>
      )}
      <label htmlFor={`${id}-words`}>{t("In your own words")}</label>
      <TextField
        id={`${id}-words`}
        value={words}
        onChange={({ target }) => onFill({ chosen, words: target.value })}
        maxLength={10_000}
      />
    </fieldset>
  );
}
