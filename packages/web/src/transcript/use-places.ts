import { useRouterState } from "@tanstack/react-router";
import type { Virtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useRef } from "react";
import type { Following } from "./use-following.ts";

/** Milliseconds for which a place must have held: until then, what is drawn and measured may still move it. */
const SETTLING = 1_000;

/** What a person moves the view with. */
const HANDS = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/** A place on a branch: which message is the first in sight, and how many pixels of it are above. */
interface Place {
  readonly message: string;
  readonly above: number;
  /** Whether the end was kept in view, wherever that is by now. */
  readonly isEnd: boolean;
}

/** Where each entry of the browser's history was scrolled to. */
export interface Places {
  /** For the `onScroll` of the scrolling element. */
  onScroll(): void;
  /** Whether what is in view was so before, and stands where it stood then. */
  isReturn(): boolean;
}

/** Remembers where each entry of the browser's history was scrolled to, and goes there when it comes back (W6). */
export function usePlaces(
  rows: Virtualizer<HTMLDivElement, Element>,
  path: readonly string[],
  { isFollowing, follow, stop }: Following,
): Places {
  const entry = useRouterState({ select: ({ location }) => location.state.__TSR_key });
  // The entry changes before the branch does: only both together are what the person saw.
  const view = `${entry} ${path.at(-1)}`;
  const places = useRef(new Map<string, Place>());
  const shown = useRef<string>(undefined);
  const returned = useRef(false);
  const wanted = useRef<{ readonly place: Place; readonly until: number }>(undefined);

  const hold = useCallback(
    (place: Place, until: number) => {
      const start = rows.measurementsCache[path.indexOf(place.message)]?.start;
      const now = performance.now();
      wanted.current = undefined;
      if (!rows.scrollElement || start === undefined) return;
      const top = start + place.above;
      const isThere = Math.abs(rows.scrollElement.scrollTop - top) < 1;
      if (!isThere) rows.scrollElement.scrollTop = top;
      if (!isThere || now < until) wanted.current = { place, until: isThere ? until : now + SETTLING };
    },
    [rows, path],
  );
  const keep = () => {
    const top = rows.scrollElement?.scrollTop;
    const first = top === undefined ? undefined : rows.getVirtualItemForOffset(top);
    if (top === undefined || !first) return;
    places.current.set(view, { message: String(first.key), above: top - first.start, isEnd: isFollowing });
  };

  useLayoutEffect(() => {
    if (shown.current !== view) {
      shown.current = view;
      const place = places.current.get(view);
      returned.current = place !== undefined;
      wanted.current = place && !place.isEnd ? { place, until: performance.now() + SETTLING } : undefined;
      if (place?.isEnd) follow();
      else if (place) stop();
    } else if (isFollowing) wanted.current = undefined;
    if (wanted.current) hold(wanted.current.place, wanted.current.until);
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
      if (wanted.current) hold(wanted.current.place, wanted.current.until);
      else if (shown.current === view) keep();
    },
    isReturn: () => returned.current,
  };
}
