import type { ReactNode } from "react";

/** A button below the message box. */
export function Action({
  children,
  onClick,
  isMain = false,
}: {
  readonly children: ReactNode;
  onClick(): void;
  readonly isMain?: boolean;
}) {
  const look = isMain ? "border-leaf bg-leaf text-ground" : "border-line hover:bg-sunken";
  return (
    <button type="button" onClick={onClick} className={`rounded-md border px-3 py-1 ${look}`}>
      {children}
    </button>
  );
}
