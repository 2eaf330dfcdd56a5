import { type ShownLine, shownCall } from "@banyan/client/words";
import type { Call, Json, Preview } from "@banyan/core/conversation";
import { useMemo, useState } from "react";
import { Code } from "../parts/code/code.tsx";
import { Button } from "../parts/design/button.tsx";
import { say, t, tCount } from "../parts/phrases/phrases.ts";

/** The number of lines shown at first, and added by each press of the button. */
const MORE = 500;

/** Shows everything that a call would run and change, in the same lines as in other clients (S15, S23). */
export function ShownLines({
  call,
  input,
  preview,
  name = t("What will run"),
}: {
  readonly call: Call;
  readonly name?: string;
  readonly input?: Json | undefined;
  readonly preview?: Preview | undefined;
}) {
  const lines = useMemo(() => shownCall(call, { input: input ?? call.input, preview, say }), [call, input, preview]);
  const language =
    preview?.changes?.[0]?.path ?? call.about?.paths?.find(({ access }) => access === "write")?.path ?? "";
  const [most, setMost] = useState(MORE);
  const hidden = lines.length - most;
  return (
    <section
      dir="ltr"
      aria-label={name}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this element.
      tabIndex={0}
      // Characters appear in the order in which they run, whatever the direction of their script.
      className="max-h-96 overflow-auto rounded-lg border border-hair bg-surface py-1.5 font-mono text-xs leading-5 [unicode-bidi:bidi-override]"
    >
      {lines.slice(0, most).map((line, index) => (
        <ShownTextLine
          key={index}
          line={line}
          language={language}
          isFurther={line.look === "command" && lines[index - 1]?.look === "command"}
        />
      ))}
      {hidden > 0 && (
        <Button isSmall onClick={() => setMost(most + MORE)}>
          {tCount(hidden, "{count} more line: show it", "{count} more lines: show the next {next}", {
            next: Math.min(MORE, hidden),
          })}
        </Button>
      )}
    </section>
  );
}

function ShownTextLine({
  line: { look, text, number },
  language,
  isFurther,
}: {
  readonly line: ShownLine;
  readonly language: string;
  /** True for a later line of a command, such as a line of a heredoc, which gets no shell prompt. */
  readonly isFurther: boolean;
}) {
  const grammar =
    look === "command" ? "bash" : look === "added" || look === "removed" || look === "same" ? language : "";
  return (
    <div className={`flex whitespace-pre-wrap px-3 ${LOOKS[look]} ${isFurther ? "before:invisible" : ""}`}>
      {number !== undefined && (
        <span aria-hidden="true" className="w-9 shrink-0 select-none pe-2 text-end text-soft">
          {number}
        </span>
      )}
      {/* Text of the page follows the page's direction; the call's own text keeps its order. */}
      <span
        className={`min-w-0 [overflow-wrap:anywhere] ${look === "note" || look === "head" || look === "confinement" ? "[unicode-bidi:isolate]" : ""}`}
      >
        {SIGNS[look] ?? ""}
        <Code text={text} language={grammar} />
      </span>
    </div>
  );
}

const LOOKS: Readonly<Record<ShownLine["look"], string>> = {
  note: "font-sans font-semibold text-warn",
  head: "text-soft",
  argument: "",
  command: "text-sm leading-6 before:mr-2 before:select-none before:text-soft before:content-['$']",
  text: "ml-2 border-line border-l-2",
  added: "bg-leaf-ground",
  removed: "bg-bad-ground",
  same: "",
  gap: "text-soft",
  confinement: "font-sans text-soft",
};

const SIGNS: Readonly<Partial<Record<ShownLine["look"], string>>> = { added: "+ ", removed: "- ", same: "  " };
