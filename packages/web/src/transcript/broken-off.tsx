import { describeBrokenTurn, type RecoveryOption } from "@banyan/client/words";
import { type BrokenTurn, textOf } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { useState } from "react";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useUsualModel } from "../parts/conversation/use-models.ts";
import { Button } from "../parts/design/button.tsx";
import { Notice } from "../parts/design/notice.tsx";
import { usePage } from "../parts/page/page.ts";
import { useMay } from "../parts/page/use-may.ts";
import { say, t } from "../parts/phrases/phrases.ts";
import { RetryAnswer, useRetry } from "./retry-answer.tsx";

/** Explains why a turn ended without an answer, and what to do (W48). `isEnd`: the branch ends here. */
export function BrokenOff({ message, isEnd }: { readonly message: string; readonly isEnd: boolean }) {
  const conversation = useConversation();
  const turn = useTree()?.broken.get(message);
  // The composer reports a turn whose process stopped, and offers to continue.
  if (!turn || conversation.leftOpen.includes(message)) return null;
  return <Card key={turn.run} turn={turn} message={message} isEnd={isEnd} />;
}

const NAMES: Readonly<Record<RecoveryOption, string>> = {
  again: t("Try again"),
  "another-model": t("Another model"),
  "go-on": t("Continue"),
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
  const usual = useUsualModel();
  const answer = state?.messages.get(message);
  const isBegun = answer?.role === "assistant" && textOf(answer).trim() !== "";
  const { head, why, ways, advice, isFailure } = describeBrokenTurn(turn, isBegun, say);
  const model = answer?.role === "assistant" ? answer.model : (state?.model ?? usual ?? "");
  const take = (way: RecoveryOption) => {
    if (way === "another-model") setChoosing(true);
    else
      page.told(way === "again" ? retry(message) : page.connection.ask("turn.resume", { conversation, at: message }));
  };
  const isAbleTo = isEnd && may("turn.retry");
  return (
    <div className="mt-3">
      <Notice
        tone={isFailure ? "bad" : "warn"}
        head={head}
        // A card that scrolls into view later is no news.
        isUrgent={isEnd}
        ways={
          isAbleTo &&
          ways.map((way, index) => (
            <Button key={way} look={index === 0 ? "main" : "plain"} onClick={() => take(way)}>
              {NAMES[way]}
            </Button>
          ))
        }
      >
        {visibleLine(why)}
        {isAbleTo && <p className="mt-1 text-soft text-xs">{advice}</p>}
        {isChoosing && <RetryAnswer at={message} model={model} onClose={() => setChoosing(false)} />}
      </Notice>
    </div>
  );
}
