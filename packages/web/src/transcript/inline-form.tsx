import { errorMessage } from "@banyan/core/shown";
import { type ReactNode, useState } from "react";
import { Button } from "../parts/design/button.tsx";
import { ErrorText } from "../parts/design/notice.tsx";
import { t } from "../parts/phrases/phrases.ts";

/** A small form below a message, with a submit and a cancel button. Escape closes it. */
export function InlineForm({
  action,
  onSubmit,
  onClose,
  children,
}: {
  readonly action: string;
  onSubmit(): Promise<unknown>;
  onClose(): void;
  readonly children: ReactNode;
}) {
  const [problem, setProblem] = useState<string>();
  return (
    <form
      className="flex w-full flex-col gap-2 text-ink text-sm"
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit().then(onClose, (error: unknown) => setProblem(errorMessage(error)));
      }}
    >
      {children}
      <ErrorText>{problem}</ErrorText>
      <span className="flex gap-1">
        <Button type="submit">{action}</Button>
        <Button onClick={onClose}>{t("Cancel")}</Button>
      </span>
    </form>
  );
}
