import { Component, type ReactNode } from "react";
import { t } from "../phrases/phrases.ts";
import { Button } from "./button.tsx";

/** How much what is told matters. */
export type Tone = "plain" | "good" | "warn" | "bad";

const TONES: Readonly<Record<Tone, string>> = {
  plain: "border-hair bg-surface",
  good: "border-leaf bg-leaf-ground",
  warn: "border-warn/40 bg-warn-ground",
  bad: "border-bad/40 bg-bad-ground",
};

const HEADS: Readonly<Record<Tone, string>> = { plain: "", good: "text-leaf", warn: "text-warn", bad: "text-bad" };

/** A card that says what happened, and leads on (W48, W52): a sentence, what to do, and the ways to do it. */
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
  /** A screen reader is told at once. */
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

/** A word beside something: how it stands, or how many wait. */
export function Tag({ tone = "plain", children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1 whitespace-nowrap rounded-full border px-1.5 text-[0.6875rem] leading-4.5 ${TAGS[tone]}`}
    >
      {children}
    </span>
  );
}

/** What a part of the page shows. */
interface Shown {
  /** What is shown: when it becomes another, that is tried, whatever became of this one. */
  readonly of: string;
  readonly children: ReactNode;
}

/** A part of the page. When it fails to be drawn, a card says so in its place, and the rest of the page goes on (W48). */
export class SafePart extends Component<Shown, { readonly problem?: string | undefined }> {
  override state: { readonly problem?: string | undefined } = {};

  static getDerivedStateFromError(error: unknown) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }

  /** As one that nobody caught: the console says where it was. */
  override componentDidCatch(error: unknown): void {
    reportError(error);
  }

  override componentDidUpdate(before: Shown): void {
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
