import { useEffect, useState } from "react";

/** What the model thought: open while it thinks, closed afterwards (W22). */
export function Reasoning({ text, isStreaming }: { readonly text: string; readonly isStreaming: boolean }) {
  const [since] = useState(() => Date.now());
  const [seconds, setSeconds] = useState<number>();
  useEffect(() => {
    if (!isStreaming) return;
    const timer = setInterval(() => setSeconds(Math.round((Date.now() - since) / 1000)), 1_000);
    return () => clearInterval(timer);
  }, [isStreaming, since]);
  return (
    <details className="my-1 text-soft text-sm" open={isStreaming}>
      <summary>
        {isStreaming ? "Thinking" : "Thought"}
        {seconds !== undefined && ` for ${seconds} s`}
      </summary>
      <p className="whitespace-pre-wrap border-hair border-l-2 pl-3">{text}</p>
    </details>
  );
}
