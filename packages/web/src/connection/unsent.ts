import type { UserPart } from "@banyan/core/conversation";

/** A message on its way to the server. Its id becomes the message's: however often it goes out, it is said once. */
export interface Unsent {
  readonly id: string;
  readonly conversation: string;
  readonly parts: readonly UserPart[];
  readonly at?: string;
  readonly run?: string;
  readonly delivery?: "steer" | "queue";
}

const KEY = "unsent";

/** Keeps what is not sent, so that a reload loses nothing of it (W25). */
export function keepUnsent(unsent: readonly Unsent[]): void {
  if (unsent.length === 0) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, JSON.stringify(unsent));
}

/** What was not sent when the page was loaded. */
export function keptUnsent(): readonly Unsent[] {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]") as readonly Unsent[];
  } catch {
    // Whatever stands there is none of ours.
    return [];
  }
}
