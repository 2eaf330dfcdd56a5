import { useRouterState } from "@tanstack/react-router";
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import type { Following } from "./use-following.ts";

/** Milliseconds in which what is drawn may still grow to the height that it had. */
const SETTLING = 1_000;

interface Place {
  readonly leaf: string | null;
  readonly top: number;
  readonly isEnd: boolean;
}

/** Remembers where each entry of the browser's history was scrolled to, and goes there when it comes back (W6). */
export function usePlaces(
  scroller: RefObject<HTMLElement | null>,
  leaf: string | null,
  { isFollowing, follow, stop }: Following,
): () => void {
  const entry = useRouterState({ select: ({ location }) => location.state.__TSR_index ?? 0 });
  const places = useRef(new Map<number, Place>());
  const shown = useRef(entry);
  const wanted = useRef<{ readonly top: number; readonly until: number }>(undefined);
  useEffect(() => {
    if (shown.current === entry) return;
    shown.current = entry;
    const place = places.current.get(entry);
    // Another branch with this number: an entry that is gone.
    if (place?.leaf !== leaf) return;
    if (place.isEnd) return follow();
    stop();
    wanted.current = { top: place.top, until: performance.now() + SETTLING };
    if (scroller.current) scroller.current.scrollTop = place.top;
  }, [entry, leaf, scroller, follow, stop]);
  useLayoutEffect(() => {
    if (!wanted.current || !scroller.current) return;
    const { top, until } = wanted.current;
    scroller.current.scrollTop = top;
    if (performance.now() > until) wanted.current = undefined;
  });
  return () => {
    if (shown.current !== entry || !scroller.current || wanted.current) return;
    places.current.set(entry, { leaf, top: scroller.current.scrollTop, isEnd: isFollowing });
  };
}
