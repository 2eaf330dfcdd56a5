import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Icon, type IconName } from "./icon.tsx";

/** Returns the state of a button with a panel. A click outside of `whole` hides it; `close` also focuses the button. */
export function usePopover() {
  const [isOpen, setOpen] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const onPointer = ({ target }: PointerEvent) => {
      if (!whole.current?.contains(target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return { isOpen, setOpen, close, whole, button };
}

/** A button that shows and hides content below it. Escape or a click elsewhere hides the content. */
export function Disclosure({
  label,
  id,
  name,
  icon,
  isUrgent = false,
  children,
}: {
  readonly id?: string;
  readonly label?: ReactNode;
  readonly icon?: IconName;
  readonly name?: string;
  readonly isUrgent?: boolean;
  readonly children: ReactNode;
}) {
  const { isOpen, setOpen, close, whole, button } = usePopover();
  const panel = useId();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the panel, whichever element has the focus.
    <div
      ref={whole}
      className="relative"
      onKeyDown={({ key }) => {
        if (key === "Escape" && isOpen) close();
      }}
    >
      <button
        ref={button}
        id={id}
        type="button"
        aria-expanded={isOpen}
        aria-controls={panel}
        aria-label={name}
        title={name}
        onClick={() => setOpen(!isOpen)}
        className={`inline-flex min-h-8 min-w-8 items-center justify-center gap-1.5 rounded-md px-2 font-medium text-xs ${isUrgent ? "bg-warn-ground text-warn hover:opacity-90" : "text-soft hover:bg-sunken hover:text-ink aria-expanded:bg-sunken"}`}
      >
        {icon && <Icon of={icon} isLarge />}
        {label}
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a key on a link is a click. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: following a link inside completes the user's task. */}
      <div
        id={panel}
        hidden={!isOpen}
        onClick={({ target }) => {
          if ((target as Element).closest("a")) setOpen(false);
        }}
        className="fixed inset-x-2 z-20 mt-1 max-h-[70vh] overflow-y-auto rounded-xl border border-hair bg-surface p-4 text-sm shadow-open sm:absolute sm:inset-x-auto sm:end-0 sm:w-96"
      >
        {isOpen && children}
      </div>
    </div>
  );
}
