import type { FeedItem } from "@banyan/core";
import { formatDuration } from "./amounts.ts";
import { oneLine } from "./plain-text.ts";

type Retrying = Extract<FeedItem, { type: "model.retrying" }>;
type Waiting = Extract<FeedItem, { type: "model.waiting" }>;

/** What went wrong with a model, in a word: its HTTP status, or the kind of failure. */
export function hitchName({ status, code }: Retrying): string {
  return status === undefined ? code : String(status);
}

/** A line that stays: why a model is asked again, and when. */
export function retryLine(item: Retrying): string {
  const { reason, delay, attempt } = item;
  return `${oneLine(reason)}; ${hitchName(item)}, attempt ${attempt}, again in ${formatDuration(delay)}`;
}

/** That a model says nothing, and whether it is still there. */
export function waitingLine({ time, alive }: Waiting): string {
  const seconds = `${Math.round(time / 1000)} s`;
  return alive ? `thinking for ${seconds}; the connection is alive` : `nothing from the model for ${seconds}`;
}
