import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Pixels from the end at which a person who scrolls has reached it. */
const NEAR = 8;

/** Milliseconds after a touch, a key or a click in which a movement is the person's. */
const BY_HAND = 1_000;

const TOUCHES = ["touchmove", "keydown", "pointerdown", "pointermove"] as const;

/** Whether the end of the messages is kept in view, and how that ends and begins (W23). */
export interface Following {
  readonly isFollowing: boolean;
  /** Whether it is not, and more is there than fits. */
  readonly isAway: boolean;
  /** For the element that grows as the messages do. */
  readonly content: RefObject<HTMLDivElement | null>;
  /** For the `onScroll` of the scrolling element. */
  onScroll(): void;
  follow(): void;
  stop(): void;
}

/** Keeps the end of a scrolling element in view until the person moves upwards; the view never moves after that. */
export function useFollowing(scroller: RefObject<HTMLElement | null>): Following {
  // Read by observers between two renderings.
  const follows = useRef(true);
  const [isFollowing, setFollowing] = useState(true);
  const content = useRef<HTMLDivElement>(null);
  const [fits, setFits] = useState(true);
  // Where the view stood, and where it could stand at most, when that was looked at.
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
    // Before the first pixel of it: an answer that streams must not win the race with the wheel.
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
  // Whatever has been drawn or measured anew.
  useLayoutEffect(() => {
    if (follows.current) toEnd();
  });
  const onScroll = useCallback(() => {
    if (!scroller.current) return;
    const { scrollTop: top, scrollHeight, clientHeight } = scroller.current;
    const most = scrollHeight - clientHeight;
    // What is measured anew moves the view too; only a person does so by hand.
    const isByHand = performance.now() - last.current.touched < BY_HAND;
    if (most - top <= NEAR) {
      // The end was reached, or came nearer. What was scrolled there before a person turned the wheel is heard of after it.
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
