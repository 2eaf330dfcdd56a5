import type { Call, Json, Preview } from "@banyan/core/conversation";
import { type ShownLine, shownCall } from "@banyan/core/shown";
import { useMemo, useState } from "react";

/** Lines that are there at first, and that each press of the button adds. */
const MORE = 500;

/** All that a call would run with, and what it would change: the lines that every client shows of it (S15, S23). */
export function ShownLines({
  call,
  input,
  preview,
}: {
  readonly call: Call;
  /** In the place of those that were checked. */
  readonly input?: Json | undefined;
  readonly preview?: Preview | undefined;
}) {
  const lines = useMemo(() => shownCall(call, { input: input ?? call.input, preview }), [call, input, preview]);
  const [most, setMost] = useState(MORE);
  const hidden = lines.length - most;
  return (
    <section
      aria-label="What would run"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys.
      tabIndex={0}
      // Letters stand in the order in which they run, whatever the direction of their script.
      className="max-h-96 overflow-auto rounded border border-hair bg-ground py-1 font-mono text-xs leading-5 [unicode-bidi:bidi-override]"
    >
      {lines.slice(0, most).map((line, index) => (
        <Line key={index} line={line} />
      ))}
      {hidden > 0 && (
        <button
          type="button"
          onClick={() => setMost(most + MORE)}
          className="m-2 min-h-6 rounded border border-line px-2 font-sans hover:bg-sunken"
        >
          {`${hidden} more lines: show the next ${Math.min(MORE, hidden)}`}
        </button>
      )}
    </section>
  );
}

function Line({ line: { look, text, number } }: { readonly line: ShownLine }) {
  return (
    <div className={`flex whitespace-pre-wrap px-2 ${LOOKS[look]}`}>
      {number !== undefined && (
        <span aria-hidden="true" className="w-9 shrink-0 select-none pr-2 text-right text-soft">
          {number}
        </span>
      )}
      <span className="min-w-0 [overflow-wrap:anywhere]">{`${SIGNS[look] ?? ""}${text}`}</span>
    </div>
  );
}

const LOOKS: Readonly<Record<ShownLine["look"], string>> = {
  note: "font-sans font-semibold text-warn",
  head: "text-soft",
  argument: "",
  command: "",
  text: "ml-2 border-line border-l-2",
  added: "bg-leaf-ground",
  removed: "bg-bad-ground",
  same: "",
  gap: "text-soft",
};

/** What says the same as the ground, without colour. */
const SIGNS: Readonly<Partial<Record<ShownLine["look"], string>>> = { added: "+ ", removed: "- ", same: "  " };
