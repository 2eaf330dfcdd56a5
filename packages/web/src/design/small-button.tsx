import type { CommandName } from "@banyan/protocol";
import type { ReactNode } from "react";
import { useMay } from "../use-may.ts";

/** A button beside a message; at least 24 pixels each way (W2). */
export function SmallButton({
  name,
  children,
  onClick,
  takes,
  disabled = false,
  ...rest
}: {
  readonly name: string;
  readonly children: ReactNode;
  onClick(): void;
  /** The command that it takes: who may not does not see it. */
  readonly takes?: CommandName;
  readonly disabled?: boolean;
  readonly "aria-expanded"?: boolean;
}) {
  const may = useMay();
  if (takes !== undefined && !may(takes)) return null;
  return (
    <button
      {...rest}
      type="button"
      aria-label={name}
      title={name}
      disabled={disabled}
      onClick={onClick}
      className="inline-flex min-h-6 min-w-6 items-center justify-center rounded-md px-1 hover:bg-sunken hover:text-ink disabled:opacity-40"
    >
      {children}
    </button>
  );
}
