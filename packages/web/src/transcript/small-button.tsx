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
}: {
  readonly name: string;
  readonly children: ReactNode;
  onClick(): void;
  /** The command that it takes: who may not does not see it. */
  readonly takes?: CommandName;
  readonly disabled?: boolean;
}) {
  const may = useMay();
  if (takes !== undefined && !may(takes)) return null;
  return (
    <button
      type="button"
      aria-label={name}
      title={name}
      disabled={disabled}
      onClick={onClick}
      className="min-h-6 min-w-6 rounded px-1 hover:bg-sunken hover:text-ink disabled:opacity-40"
    >
      {children}
    </button>
  );
}

/** Lines of the icons, in a square of 24. */
const LINES = {
  branch: "M6 3v18M6 16c0-6 12-3 12-10V3M14 7l4-4 4 4",
  retry: "M20 12a8 8 0 1 1-2.4-5.7L20 8.6M20 3v5.6h-5.6",
  edit: "M4 20h4L19.5 8.5l-4-4L4 16zM13 7l4 4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  done: "M4 12.5l5 5L20 6.5",
  star: "M12 3l2.8 5.8 6.2.9-4.5 4.4 1.1 6.3-5.6-3-5.6 3 1.1-6.3L3 9.7l6.2-.9z",
  name: "M4 4h8l8.5 8.5-8 8L4 12zM8.5 8.5h.01",
  remove: "M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13",
} as const;

/** A small picture of what a button does; the button has a name of its own. */
export function Icon({ of, isFilled = false }: { readonly of: keyof typeof LINES; readonly isFilled?: boolean }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 24 24"
      fill={isFilled ? "currentColor" : "none"}
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      className="m-auto size-3.5"
    >
      <path d={LINES[of]} />
    </svg>
  );
}
