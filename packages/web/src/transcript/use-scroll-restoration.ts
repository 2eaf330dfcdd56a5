import type { Virtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef } from "react";
import { useEntry } from "../parts/browser/navigation.tsx";
import type { ScrollFollowing } from "./use-following.ts";

/** Milliseconds that a restored position must hold: rendering and measuring may move it until then. */
const SETTLING = 1_000;

const HANDS = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/** A position on a branch: the first visible message, and how many of its pixels are above the view. */
interface ScrollPosition {
  readonly message: string;
  readonly above: number;
  /** True if the view followed the end of the messages. The view then follows the end again, wherever it is now. */
  readonly isEnd: boolean;
}

interface ScrollTarget {
  readonly position: ScrollPosition;
  /** The time until which the scroll position must be kept, on the clock of `performance.now()`. */
  readonly until: number;
}

export interface ScrollRestoration {
  onScroll(): void;
  /** Returns whether the view came back to a position and is still there. */
  isReturn(): boolean;
}

/** Stores the scroll position of each entry of the browser's history, and restores it on return (W6). */
export function useScrollRestoration(
  rows: Virtualizer<HTMLDivElement, Element>,
  path: readonly string[],
  { isFollowing, follow, stop }: ScrollFollowing,
): ScrollRestoration {
  const entry = useEntry(({ id }) => id);
  // The entry changes before the branch: only both together identify what the user saw.
  const view = `${entry} ${path.at(-1)}`;
  const positions = useRef(new Map<string, ScrollPosition>());
  const shown = useRef<string>(undefined);
  const returned = useRef(false);
  const wanted = useRef<ScrollTarget>(undefined);

  const hold = ({ position, until }: ScrollTarget) => {
    wanted.current = undefined;
    const start = rows.measurementsCache[path.indexOf(position.message)]?.start;
    if (!rows.scrollElement || start === undefined) return;
    const now = performance.now();
    const top = start + position.above;
    if (Math.abs(rows.scrollElement.scrollTop - top) >= 1) {
      rows.scrollElement.scrollTop = top;
      wanted.current = { position, until: now + SETTLING };
    } else if (now < until) wanted.current = { position, until };
  };
  const keep = () => {
    const top = rows.scrollElement?.scrollTop;
    const first = top === undefined ? undefined : rows.getVirtualItemForOffset(top);
    if (top === undefined || !first) return;
    positions.current.set(view, { message: String(first.key), above: top - first.start, isEnd: isFollowing });
  };

  useLayoutEffect(() => {
    if (shown.current !== view) {
      shown.current = view;
      const position = positions.current.get(view);
      returned.current = position !== undefined;
      wanted.current = position && !position.isEnd ? { position, until: performance.now() + SETTLING } : undefined;
      if (position?.isEnd) follow();
      else if (position) stop();
    } else if (isFollowing) wanted.current = undefined;
    if (wanted.current) hold(wanted.current);
    else keep();
  });
  useEffect(() => {
    const element = rows.scrollElement;
    const letGo = () => {
      wanted.current = undefined;
    };
    for (const type of HANDS) element?.addEventListener(type, letGo, { passive: true });
    return () => {
      for (const type of HANDS) element?.removeEventListener(type, letGo);
    };
  }, [rows]);
  return {
    onScroll() {
      if (wanted.current) hold(wanted.current);
      else if (shown.current === view) keep();
    },
    isReturn: () => returned.current,
  };
}
