/** SVG paths of the icons, in a square of 24 by 24. */
const LINES = {
  branch: "M6 3v18M6 16c0-6 12-3 12-10V3M14 7l4-4 4 4",
  retry: "M20 12a8 8 0 1 1-2.4-5.7L20 8.6M20 3v5.6h-5.6",
  edit: "M4 20h4L19.5 8.5l-4-4L4 16zM13 7l4 4",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  done: "M4 12.5l5 5L20 6.5",
  star: "M12 3l2.8 5.8 6.2.9-4.5 4.4 1.1 6.3-5.6-3-5.6 3 1.1-6.3L3 9.7l6.2-.9z",
  name: "M4 4h8l8.5 8.5-8 8L4 12zM8.5 8.5h.01",
  remove: "M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13",
  new: "M12 5v14M5 12h14",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  close: "M6 6l12 12M18 6L6 18",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  attach: "M19 11.5l-7.4 7.4a4.6 4.6 0 0 1-6.5-6.5l7.8-7.8a3 3 0 0 1 4.3 4.3l-7.7 7.7a1.5 1.5 0 0 1-2.1-2.1L14 8",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  back: "M15 6l-6 6 6 6",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  beside: "M4 5h16v14H4zM13 5v14",
  artifact: "M4 5h16v14H4zM4 9h16M10 12l-2 2 2 2M14 12l2 2-2 2",
  fold: "M9 6l6 6-6 6",
  open: "M6 9l6 6 6-6",
  pin: "M9 4h6l-1 6 3 3v1H7v-1l3-3zM12 14v6",
  archive: "M4 5h16v4H4zM6 9v10h12V9M10 13h4",
  several: "M4 7l1.5 1.5L8 6M4 15l1.5 1.5L8 14M11 7.5h9M11 15.5h9",
  usage: "M5 20V11M12 20V4M19 20v-6",
  branches: "M6 4v9a3 3 0 0 0 3 3h6M6 8h9M18 8h.01M18 16h.01",
  map: "M4 12h5M9 12c4 0 2-6 6-6M9 12c4 0 2 6 6 6M15 4h5v4h-5zM15 16h5v4h-5z",
  changes: "M12 4v10M7 9h10M7 20h10",
  compare: "M4 5h6v14H4zM14 5h6v14h-6z",
  findings: "M9 6h11M9 12h11M9 18h11M4 6l.8.8L6.4 5M4 12l.8.8 1.6-1.8M4 18l.8.8 1.6-1.8",
  context: "M4 6h16M4 11h16M4 16h9",
  plan: "M5 4h14v16H5zM8.5 9l1 1 2-2M8.5 15l1 1 2-2M14 9h2.5M14 15h2.5",
  background: "M4 6h16v12H4zM8 10l2.5 2L8 14M13 14h3",
  agents:
    "M9 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM3.5 19a5.5 5.5 0 0 1 11 0M16 8a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM16.5 15.5a4 4 0 0 1 4 3.5",
  memory: "M6 4h10l2 2v14H6zM9 4v5h5V4M9 14h6M9 17h6",
  hooks: "M12 4v9a4 4 0 1 1-7-2.6M12 4l-2.5 2.5M12 4l2.5 2.5M16 20h3",
  servers: "M4 5h16v6H4zM4 13h16v6H4zM7.5 8h.01M7.5 16h.01",
  settings: "M4 8h9M17 8h3M15 6v4M4 16h3M11 16h9M9 14v4",
  whole: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  wrap: "M4 6h16M4 12h13a3 3 0 0 1 0 6h-5M14 15l-3 3 3 3M4 18h3",
} as const;

/** Icons with a direction, which are mirrored in right-to-left languages. */
const POINTING: ReadonlySet<string> = new Set(["back", "fold", "branch", "retry"]);

export type IconName = keyof typeof LINES;

export const ICONS = Object.keys(LINES) as readonly IconName[];

/** A small icon in a button; the button has its own name. */
export function Icon({
  of,
  isFilled = false,
  isLarge = false,
}: {
  readonly of: IconName;
  readonly isFilled?: boolean;
  readonly isLarge?: boolean;
}) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 24 24"
      fill={isFilled || of === "stop" ? "currentColor" : "none"}
      stroke="currentColor"
      strokeWidth={of === "more" ? 3 : 1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      className={`shrink-0 ${isLarge ? "size-4.5" : "size-3.5"} ${POINTING.has(of) ? "rtl:-scale-x-100" : ""}`}
    >
      <path d={LINES[of]} />
    </svg>
  );
}
