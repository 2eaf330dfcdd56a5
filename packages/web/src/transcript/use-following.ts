import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const NEAR = 8;

/** Milliseconds after a touch, key or click during which a scroll counts as the user's. */
const BY_HAND = 1_000;

const TOUCHES = ["touchmove", "keydown", "pointerdown", "pointermove"] as const;

/** The state of a scrolling element that can follow the end of the messages, with functions to start and stop (W23). */
export interface ScrollFollowing {
  readonly isFollowing: boolean;
  /** True if the view does not follow and the messages do not fit. */
  readonly isAway: boolean;
  readonly content: RefObject<HTMLDivElement | null>;
  onScroll(): void;
  follow(): void;
  stop(): void;
}

/** Keeps the end of a scrolling element in view until the user scrolls up; afterwards, the view does not move by itself. */
export function useFollowing(scroller: RefObject<HTMLElement | null>): ScrollFollowing {
  // A ref, because observers read it between two renderings.
  const follows = useRef(true);
  const [isFollowing, setFollowing] = useState(true);
  const content = useRef<HTMLDivElement>(null);
  const [fits, setFits] = useState(true);
  const last = useRef({ top: 0, most: 0, touched: Number.NEGATIVE_INFINITY });
  const become = useCallback((wanted: boolean) => {
    follows.current = wanted;
    setFollowing(wanted);
  }, []);
  const toEnd = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    element.scrollTop = element.scrollHeight;
    last.current.top = element.scrollTop;
    last.current.most = element.scrollHeight - element.clientHeight;
  }, [scroller]);
  useEffect(() => {
    const element = scroller.current;
    if (!element || !content.current) return;
    const sizes = new ResizeObserver(() => {
      if (follows.current) toEnd();
      setFits(element.scrollHeight - element.clientHeight <= NEAR);
    });
    for (const sized of [element, content.current]) sizes.observe(sized);
    // Stop at the wheel event, before any scrolling: a streaming answer must not win against the wheel.
    const onWheel = ({ deltaY }: WheelEvent) => {
      if (deltaY < 0 && element.scrollTop > 0) become(false);
    };
    const onTouch = () => {
      last.current.touched = performance.now();
    };
    element.addEventListener("wheel", onWheel, { passive: true });
    for (const type of TOUCHES) element.addEventListener(type, onTouch, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("wheel", onWheel);
      for (const type of TOUCHES) element.removeEventListener(type, onTouch);
    };
  }, [scroller, become, toEnd]);
  // Follow the end after every rendering and measurement.
  useLayoutEffect(() => {
    if (follows.current) toEnd();
  });
  const onScroll = useCallback(() => {
    if (!scroller.current) return;
    const { scrollTop: top, scrollHeight, clientHeight } = scroller.current;
    const most = scrollHeight - clientHeight;
    // New measurements also move the view; only the user does so by hand.
    const isByHand = performance.now() - last.current.touched < BY_HAND;
    if (most - top <= NEAR) {
      // The end was reached or came nearer. An earlier scroll may be reported after the user's wheel event.
      if (top > last.current.top || most < last.current.most) become(true);
    } else if (top < last.current.top && isByHand) become(false);
    last.current.top = top;
    last.current.most = most;
  }, [scroller, become]);
  const follow = useCallback(() => {
    become(true);
    toEnd();
  }, [become, toEnd]);
  const stop = useCallback(() => become(false), [become]);
  return { isFollowing, isAway: !isFollowing && !fits, content, onScroll, follow, stop };
}
