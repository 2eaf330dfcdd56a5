import type { CommandName } from "@banyan/protocol";
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { focusOn } from "../browser/focus-on.ts";
import { useMay } from "../page/use-may.ts";
import { Icon, type IconName } from "./icon.tsx";

/** The look of a button by its action: the main action, a normal action, one of many, or a removal. */
export type ButtonLook = "main" | "plain" | "quiet" | "bad";

interface Common extends Pick<ButtonHTMLAttributes<HTMLButtonElement>, "disabled" | "type"> {
  readonly look?: ButtonLook;
  readonly isSmall?: boolean;
  readonly icon?: IconName;
  onClick?(): void;
}

const LOOKS: Readonly<Record<ButtonLook, string>> = {
  main: "border-leaf bg-leaf text-ground hover:opacity-90 forced-colors:border-[ButtonText]",
  plain: "border-hair bg-surface hover:border-line hover:bg-raised forced-colors:border-[ButtonText]",
  quiet: "border-transparent text-soft hover:bg-sunken hover:text-ink",
  bad: "border-bad/40 bg-surface text-bad hover:bg-bad-ground",
};

const SHAPE = "inline-flex shrink-0 items-center justify-center gap-1.5 border font-medium disabled:opacity-45";

export function Button({
  children,
  look = "plain",
  isSmall = false,
  icon,
  type = "button",
  ...rest
}: Common & {
  readonly children: ReactNode;
  readonly "aria-label"?: string;
  readonly "aria-expanded"?: boolean;
  readonly "aria-pressed"?: boolean;
}) {
  const size = isSmall ? "min-h-6 rounded-md px-2 text-xs" : "min-h-8 rounded-md px-3 text-sm";
  return (
    <button
      {...rest}
      type={type}
      className={`${SHAPE} ${size} ${LOOKS[look]} aria-pressed:bg-sunken aria-pressed:text-ink`}
    >
      {icon && <Icon of={icon} />}
      {children}
    </button>
  );
}

/** A button with an icon. The button's name is its tooltip and its label for screen readers. */
export function IconButton({
  name,
  icon,
  look = "quiet",
  isSmall = false,
  isFilled = false,
  isRound = false,
  type = "button",
  ...rest
}: Common & {
  readonly name: string;
  readonly icon: IconName;
  readonly isFilled?: boolean;
  readonly isRound?: boolean;
  readonly "aria-expanded"?: boolean;
  readonly "aria-pressed"?: boolean;
  readonly "aria-current"?: "true" | undefined;
}) {
  const size = isSmall ? "size-6" : "size-8";
  return (
    <button
      {...rest}
      type={type}
      aria-label={name}
      title={name}
      className={`${SHAPE} ${size} ${isRound ? "rounded-full" : "rounded-md"} ${LOOKS[look]} aria-[current]:bg-leaf-ground aria-[current]:text-leaf aria-pressed:bg-sunken aria-pressed:text-ink`}
    >
      <Icon of={icon} isFilled={isFilled} isLarge={!isSmall} />
    </button>
  );
}

/** A small button at a message; at least 24 by 24 pixels (W2). */
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
  /** The command that the button sends. Users who may not send the command do not see the button. */
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

/** A link that skips to the element of a selector; visible only while it has the focus. */
export function SkipLink({ to, children }: { readonly to: string; readonly children: ReactNode }) {
  return (
    <a
      href={to.startsWith("#") ? to : "#messages"}
      onClick={(event) => {
        event.preventDefault();
        focusOn(to);
      }}
      className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:rounded-md focus:bg-ground focus:p-2 focus:shadow-open"
    >
      {children}
    </a>
  );
}
