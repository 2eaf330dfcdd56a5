import { useRef } from "react";

/** Walks through what a person said before, the newest first (W43). */
export interface SaidBefore {
  readonly isRecalling: boolean;
  /** Recalls the one before; false when there is none. */
  older(): boolean;
  /** Recalls the one after it, or nothing behind the newest. */
  newer(): boolean;
  reset(): void;
}

/** What was said before on a branch, put into the message box as it is recalled. */
export function useHistory(said: () => readonly string[], recall: (text: string) => void): SaidBefore {
  // 0: nothing is recalled; 1: the newest.
  const back = useRef(0);
  const go = (to: number) => {
    const text = to === 0 ? "" : said().at(-to);
    if (text === undefined) return false;
    back.current = to;
    recall(text);
    return true;
  };
  return {
    get isRecalling() {
      return back.current > 0;
    },
    older: () => go(back.current + 1),
    newer: () => back.current > 0 && go(back.current - 1),
    reset() {
      back.current = 0;
    },
  };
}
