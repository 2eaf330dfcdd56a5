import { errorMessage } from "@banyan/core/shown";
import { Component, type ReactNode } from "react";
import { t } from "../phrases/phrases.ts";
import { Button } from "./button.tsx";

export type Tone = "plain" | "good" | "warn" | "bad";

const TONES: Readonly<Record<Tone, string>> = {
  plain: "border-hair bg-surface",
  good: "border-leaf bg-leaf-ground",
  warn: "border-warn/40 bg-warn-ground",
  bad: "border-bad/40 bg-bad-ground",
};

const HEADS: Readonly<Record<Tone, string>> = { plain: "", good: "text-leaf", warn: "text-warn", bad: "text-bad" };

/** A card that reports an event and offers actions (W48, W52). */
export function Notice({
  tone = "plain",
  head,
  children,
  ways,
  isUrgent = false,
}: {
  readonly tone?: Tone;
  readonly head: string;
  readonly children?: ReactNode;
  readonly ways?: ReactNode;
  readonly isUrgent?: boolean;
}) {
  return (
    <section
      aria-label={head}
      role={isUrgent ? "alert" : undefined}
      className={`flex flex-col gap-2 rounded-xl border px-4 py-3 text-sm ${TONES[tone]}`}
    >
      <p className={`font-semibold ${HEADS[tone]}`}>{head}</p>
      {children !== undefined && <div className="[overflow-wrap:anywhere]">{children}</div>}
      {ways !== undefined && <div className="flex flex-wrap gap-2">{ways}</div>}
    </section>
  );
}

const TAGS: Readonly<Record<Tone, string>> = {
  plain: "border-hair text-soft",
  good: "border-transparent bg-leaf-ground text-leaf",
  warn: "border-transparent bg-warn-ground text-warn",
  bad: "border-transparent bg-bad-ground text-bad",
};

/** A short label: a status, or a count. */
export function Tag({ tone = "plain", children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1 whitespace-nowrap rounded-full border px-1.5 text-[0.6875rem] leading-4.5 ${TAGS[tone]}`}
    >
      {children}
    </span>
  );
}

interface SafePartProps {
  /** Identifies the content. If the value changes, an earlier error is forgotten. */
  readonly of: string;
  readonly children: ReactNode;
}

/** Shows an error, also to screen readers. Shows nothing without a text. */
export function ErrorText({
  className = "",
  children,
}: {
  readonly className?: string;
  readonly children?: string | undefined;
}) {
  if (children === undefined) return null;
  return (
    <p role="alert" className={`text-bad ${className}`}>
      {children}
    </p>
  );
}

/** A part of the page. If rendering fails, a card reports it in this place, and the rest of the page continues (W48). */
export class SafePart extends Component<SafePartProps, { readonly problem?: string | undefined }> {
  override state: { readonly problem?: string | undefined } = {};

  static getDerivedStateFromError(error: unknown) {
    return { problem: errorMessage(error) };
  }

  /** Reports the error like an uncaught one, so that the console shows its location. */
  override componentDidCatch(error: unknown): void {
    reportError(error);
  }

  override componentDidUpdate(before: SafePartProps): void {
    if (before.of !== this.props.of && this.state.problem !== undefined) this.setState({ problem: undefined });
  }

  override render(): ReactNode {
    if (this.state.problem === undefined) return this.props.children;
    return (
      <div className="m-2 text-base">
        <Notice
          tone="bad"
          isUrgent
          head={t("This part of the page cannot be shown")}
          ways={<Button onClick={() => window.location.reload()}>{t("Reload the page")}</Button>}
        >
          {this.state.problem}
        </Notice>
      </div>
    );
  }
}
