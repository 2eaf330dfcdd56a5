import { formatDuration, visibleProse } from "@banyan/core/shown";
import { useEffect, useState } from "react";
import { usePreference } from "../shell/preferences.ts";

/** What the model thought: open while it thinks; afterwards as the person had the last one (W22). */
export function Reasoning({ text, isStreaming }: { readonly text: string; readonly isStreaming: boolean }) {
  const [since] = useState(() => performance.now());
  const [seconds, setSeconds] = useState<number>();
  const [kept, setKept] = usePreference("reasoning");
  const [isOpenNow, setOpenNow] = useState(true);
  const [isOpenAfter, setOpenAfter] = useState<boolean>();
  const isOpen = isStreaming ? isOpenNow : (isOpenAfter ?? kept === "open");
  useEffect(() => {
    if (!isStreaming) return;
    const timer = setInterval(() => setSeconds(Math.round((performance.now() - since) / 1000)), 250);
    return () => clearInterval(timer);
  }, [isStreaming, since]);
  const toggle = () => {
    if (isStreaming) return setOpenNow(!isOpen);
    setOpenAfter(!isOpen);
    setKept(isOpen ? "closed" : "open");
  };
  return (
    <section aria-label="Reasoning" className="my-1 text-soft text-sm">
      <button type="button" aria-expanded={isOpen} onClick={toggle} className="min-h-6">
        <span aria-hidden="true">{isOpen ? "▾" : "▸"} </span>
        {isStreaming ? "Thinking" : "Thought"}
        {seconds !== undefined && ` for ${formatDuration(seconds * 1_000)}`}
      </button>
      {isOpen && <p className="whitespace-pre-wrap border-hair border-l-2 pl-3">{visibleProse(text)}</p>}
    </section>
  );
}
