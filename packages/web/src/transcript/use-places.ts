import type { Virtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef } from "react";
import { useEntry } from "../shell/navigation.tsx";
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

/** A place that the view came back to. */
interface Wanted {
  readonly place: Place;
  /** When it has held long enough, on the clock of `performance.now()`. */
  readonly until: number;
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
  const entry = useEntry(({ id }) => id);
  // The entry changes before the branch does: only both together are what the person saw.
  const view = `${entry} ${path.at(-1)}`;
  const places = useRef(new Map<string, Place>());
  const shown = useRef<string>(undefined);
  const returned = useRef(false);
  const wanted = useRef<Wanted>(undefined);

  const hold = ({ place, until }: Wanted) => {
    wanted.current = undefined;
    const start = rows.measurementsCache[path.indexOf(place.message)]?.start;
    if (!rows.scrollElement || start === undefined) return;
    const now = performance.now();
    const top = start + place.above;
    if (Math.abs(rows.scrollElement.scrollTop - top) >= 1) {
      rows.scrollElement.scrollTop = top;
      wanted.current = { place, until: now + SETTLING };
    } else if (now < until) wanted.current = { place, until };
  };
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
