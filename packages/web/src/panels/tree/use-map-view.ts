import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** The visible part of the map: its upper left corner, and screen pixels per map pixel. */
export interface MapView {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** The scales. Below the smallest scale, text is illegible and the page would contain too many nodes. */
export const SCALES = { least: 0.25, most: 2 } as const;

const DRAG = 4;

/** Returns the visible part of a map, which the user moves by pointer, wheel and buttons (WCAG 2.5.7). */
export function useMapView(svg: RefObject<SVGSVGElement | null>) {
  const [view, setView] = useState<MapView>({ x: 0, y: 0, scale: 1 });
  const [size, setSize] = useState({ width: 0, height: 0 });
  const dragged = useRef(false);

  const show = useCallback(
    (x: number, y: number, wanted?: number) =>
      setView((old) => {
        const scale = wanted ?? old.scale;
        return { x: x - size.width / 2 / scale, y: y - size.height / 2 / scale, scale };
      }),
    [size],
  );
  const zoom = useCallback(
    (factor: number, at = { x: size.width / 2, y: size.height / 2 }) =>
      setView((old) => {
        const scale = Math.min(SCALES.most, Math.max(SCALES.least, old.scale * factor));
        const back = 1 / old.scale - 1 / scale;
        return { x: old.x + at.x * back, y: old.y + at.y * back, scale };
      }),
    [size],
  );
  const move = useCallback((right: number, down: number) => {
    if (right !== 0 || down !== 0) setView(({ x, y, scale }) => ({ x: x + right, y: y + down, scale }));
  }, []);
  const pan = (right: number, down: number) =>
    move((right * size.width) / view.scale, (down * size.height) / view.scale);

  useEffect(() => {
    const element = svg.current;
    if (!element) return;
    const owner = new AbortController();
    const { signal } = owner;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setSize({ width: entry.contentRect.width, height: entry.contentRect.height });
    });
    observer.observe(element);
    let from: { readonly x: number; readonly y: number } | undefined;
    element.addEventListener(
      "pointerdown",
      ({ clientX: x, clientY: y, button }) => {
        dragged.current = false;
        if (button === 0) from = { x, y };
      },
      { signal },
    );
    element.addEventListener(
      "pointermove",
      ({ clientX, clientY, movementX, movementY, pointerId }) => {
        if (!from) return;
        if (!dragged.current && Math.hypot(clientX - from.x, clientY - from.y) < DRAG) return;
        dragged.current = true;
        element.setPointerCapture(pointerId);
        setView(({ x, y, scale }) => ({ x: x - movementX / scale, y: y - movementY / scale, scale }));
      },
      { signal },
    );
    for (const end of ["pointerup", "pointercancel"] as const) {
      element.addEventListener(end, () => (from = undefined), { signal });
    }
    // Not passive, because the page must not zoom with the map.
    element.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const { left, top } = element.getBoundingClientRect();
        if (event.ctrlKey || event.metaKey) {
          zoom(2 ** (-event.deltaY / 200), { x: event.clientX - left, y: event.clientY - top });
        } else setView(({ x, y, scale }) => ({ x: x + event.deltaX / scale, y: y + event.deltaY / scale, scale }));
      },
      { signal, passive: false },
    );
    return () => {
      observer.disconnect();
      owner.abort();
    };
  }, [svg, zoom]);

  return { view, size, show, move, zoom, pan, wasDragged: () => dragged.current };
}
