import { type BrokenTurn, textOf, toldBreak, type WayOn } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { useState } from "react";
import { useConversation, useTree } from "../conversation/use-conversation.ts";
import { usePage, usePageState } from "../page.ts";
import { useMay } from "../use-may.ts";
import { RetryAnswer, useRetry } from "./retry-answer.tsx";

/** Where a turn ended without its answer: why, and what can be done about it (W48). `isEnd`: nothing follows on the branch. */
export function BrokenOff({ message, isEnd }: { readonly message: string; readonly isEnd: boolean }) {
  const conversation = useConversation();
  const turn = useTree()?.broken.get(message);
  // Of a process that stopped, the composer tells, and leads on.
  if (!turn || conversation.leftOpen.includes(message)) return null;
  return <Card key={turn.run} turn={turn} message={message} isEnd={isEnd} />;
}

const NAMES: Readonly<Record<WayOn, string>> = {
  again: "Try again",
  "another-model": "Another model",
  "go-on": "Go on",
};

function Card({
  turn,
  message,
  isEnd,
}: {
  readonly turn: BrokenTurn;
  readonly message: string;
  readonly isEnd: boolean;
}) {
  const page = usePage();
  const { id: conversation, state } = useConversation();
  const may = useMay();
  const retry = useRetry();
  const [isChoosing, setChoosing] = useState(false);
  const usual = usePageState(({ connection }) =>
    connection.phase === "open" ? connection.welcome.settings.model : "",
  );
  const answer = state?.messages.get(message);
  const isBegun = answer?.role === "assistant" && textOf(answer).trim() !== "";
  const { head, why, ways, advice, isFailure } = toldBreak(turn, isBegun);
  const model = answer?.role === "assistant" ? answer.model : (state?.model ?? usual);
  const take = (way: WayOn) => {
    if (way === "another-model") setChoosing(true);
    else
      page.told(way === "again" ? retry(message) : page.connection.ask("turn.resume", { conversation, at: message }));
  };
  const isAbleTo = isEnd && may("turn.retry");
  return (
    <section
      aria-label={head}
      // What is scrolled into sight later is no news.
      role={isEnd ? "alert" : undefined}
      className={`mt-2 flex flex-col gap-2 rounded-lg border px-3 py-2.5 text-sm ${isFailure ? "border-bad bg-bad-ground" : "border-line bg-warn-ground"}`}
    >
      <p>
        <span className={`font-semibold ${isFailure ? "text-bad" : "text-warn"}`}>{head}.</span>{" "}
        <span className="[overflow-wrap:anywhere]">{visibleLine(why)}</span>
      </p>
      {isAbleTo && <p className="text-soft text-xs">{advice}</p>}
      {isAbleTo && (
        <p className="flex flex-wrap gap-2">
          {ways.map((way, index) => (
            <button
              key={way}
              type="button"
              onClick={() => take(way)}
              className={`min-h-6 rounded-md border px-2.5 py-1 ${index === 0 ? "border-leaf bg-leaf text-ground hover:opacity-90" : "border-line bg-ground hover:bg-sunken"}`}
            >
              {NAMES[way]}
            </button>
          ))}
        </p>
      )}
      {isChoosing && <RetryAnswer at={message} model={model} onClose={() => setChoosing(false)} />}
    </section>
  );
}
