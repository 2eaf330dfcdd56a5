import type { InputHTMLAttributes, Ref, SelectHTMLAttributes, TextareaHTMLAttributes } from "react";

const FIELD = "min-w-0 rounded-md border border-line bg-surface px-2.5 placeholder:text-soft disabled:opacity-45";

export function TextField({
  isSmall = false,
  isCode = false,
  ...rest
}: Omit<InputHTMLAttributes<HTMLInputElement>, "className" | "size"> & {
  readonly isSmall?: boolean;
  readonly isCode?: boolean;
  readonly ref?: Ref<HTMLInputElement>;
}) {
  return (
    <input
      {...rest}
      className={`${FIELD} ${isSmall ? "min-h-6 text-xs" : "min-h-8 text-sm"} ${isCode ? "field-sizing-content max-w-full font-mono" : ""}`}
    />
  );
}

/** A multi-line text field. In a form, Ctrl+Enter or Cmd+Enter submits. */
export function TextArea({
  isCode = false,
  onKeyDown,
  ...rest
}: Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "className"> & {
  readonly isCode?: boolean;
  readonly ref?: Ref<HTMLTextAreaElement>;
}) {
  return (
    <textarea
      {...rest}
      onKeyDown={(event) => {
        onKeyDown?.(event);
        const isSent = event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.defaultPrevented;
        if (!isSent || !event.currentTarget.form) return;
        event.preventDefault();
        event.currentTarget.form.requestSubmit();
      }}
      className={`${FIELD} w-full py-2 ${isCode ? "field-sizing-content max-h-96 font-mono text-xs" : "text-base"}`}
    />
  );
}

export function Select({
  isSmall = false,
  isQuiet = false,
  ...rest
}: Omit<SelectHTMLAttributes<HTMLSelectElement>, "className"> & {
  readonly isSmall?: boolean;
  readonly isQuiet?: boolean;
  readonly ref?: Ref<HTMLSelectElement>;
}) {
  const look = isQuiet
    ? "min-w-0 rounded-md border border-transparent bg-transparent px-1 font-medium text-soft hover:bg-sunken hover:text-ink"
    : FIELD;
  return <select {...rest} className={`${look} max-w-full ${isSmall ? "min-h-6 px-1 text-xs" : "min-h-8 text-sm"}`} />;
}
