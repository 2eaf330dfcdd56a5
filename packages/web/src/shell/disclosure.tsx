import { type ReactNode, useEffect, useId, useRef, useState } from "react";

/** A button that shows and hides something below it. Escape, and a click elsewhere, hide it. */
export function Disclosure({
  label,
  name,
  isUrgent = false,
  children,
}: {
  readonly label: ReactNode;
  /** For screen readers, where the label alone does not say it. */
  readonly name?: string;
  readonly isUrgent?: boolean;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const panel = useId();
  const whole = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const onPointer = (event: PointerEvent) => {
      if (!whole.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [isOpen]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes whatever inside has the focus.
    <div
      ref={whole}
      className="relative"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return;
        setOpen(false);
        button.current?.focus();
      }}
    >
      <button
        ref={button}
        type="button"
        aria-expanded={isOpen}
        aria-controls={panel}
        aria-label={name}
        onClick={() => setOpen(!isOpen)}
        className={`min-h-6 rounded border px-2 py-0.5 text-xs ${isUrgent ? "border-warn bg-warn-ground text-warn" : "border-line hover:bg-sunken"}`}
      >
        {label}
      </button>
      <div
        id={panel}
        hidden={!isOpen}
        className="fixed inset-x-2 z-20 mt-1 max-h-[70vh] overflow-y-auto rounded-md border border-line bg-raised p-3 text-sm shadow-lg sm:absolute sm:inset-x-auto sm:right-0 sm:w-96"
      >
        {isOpen && children}
      </div>
    </div>
  );
}
