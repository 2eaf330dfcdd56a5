import type { ReactNode } from "react";

/** A button beside a message; at least 24 pixels each way (W2). */
export function SmallButton({
  name,
  children,
  onClick,
  disabled = false,
}: {
  readonly name: string;
  readonly children: ReactNode;
  onClick(): void;
  readonly disabled?: boolean;
}) {
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
