import { type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Icon } from "../../parts/design/icon.tsx";
import { t, tCount } from "../../parts/phrases/phrases.ts";
import { branchTo, layOut, type MapNode, NODE } from "./map-layout.ts";
import type { OutlineRow } from "./rows.ts";
import { SCALES, useMapView } from "./use-map-view.ts";

/** Margin in pixels around a tree that is shown whole; smallest scale of the first view; smallest scale with text. */
const MARGIN = 32;
const WHOLE = 0.4;
const LEGIBLE = 0.4;

/** The branches as a map (W16, W17). The page contains only visible nodes; keyboard users have the outline. */
export function BranchMap({
  rows,
  leaf,
  inView,
  wordsOf,
  onSelect,
  spread,
  onSpread,
  lookAt,
}: {
  readonly rows: readonly OutlineRow[];
  readonly leaf: string | null;
  readonly inView: ReadonlySet<string>;
  readonly wordsOf: (row: OutlineRow) => string;
  readonly onSelect: (row: OutlineRow) => void;
  readonly spread: ReadonlySet<string>;
  readonly onSpread: (row: OutlineRow) => void;
  readonly lookAt: string | undefined;
}) {
  const svg = useRef<SVGSVGElement>(null);
  const layout = useMemo(() => layOut(rows), [rows]);
  const { view, size, show, move, zoom, pan, wasDragged } = useMapView(svg);
  const { width, top, bottom } = layout;
  const fitting = Math.min(1, size.width / (width + MARGIN), size.height / (bottom - top + MARGIN));
  const showWhole = useCallback(
    () => show(width / 2, (top + bottom) / 2, Math.max(SCALES.least, fitting)),
    [show, width, top, bottom, fitting],
  );
  const end = layout.nodes.find(({ row }) => row.id === leaf) ?? layout.nodes.findLast(({ row }) => inView.has(row.id));
  const found = layout.nodes.find(({ row }) => row.first === lookAt);
  // On a branch with a search hit, aim at the hit.
  const aim = found && inView.has(found.row.id) ? found : end;
  // The map follows the branch in view, however it changed, unless the user looks elsewhere.
  const [shown, setShown] = useState<string>();
  const anchor = useRef<MapNode>(undefined);
  // A node that the user expanded or collapsed stays in place.
  const stays = useRef(false);
  useEffect(() => {
    if (!end || !aim || end.row.first === shown || size.width === 0) return;
    setShown(end.row.first);
    if (stays.current) {
      stays.current = false;
      return;
    }
    anchor.current = aim;
    // A tree that fits is shown whole at first.
    if (shown === undefined && fitting >= WHOLE) showWhole();
    else show(aim.x + NODE.width / 2, aim.y + NODE.height / 2);
  }, [end, aim, shown, size, show, showWhole, fitting]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view must not jump while the user moves the map.
  useEffect(() => {
    if (found && size.width > 0) show(found.x + NODE.width / 2, found.y + NODE.height / 2);
  }, [lookAt, show]);
  // Growth elsewhere must not move the nodes that the user looks at.
  useLayoutEffect(() => {
    const before = anchor.current;
    const now = before && layout.nodes.find(({ row }) => row.first === before.row.first);
    if (!now) return;
    anchor.current = now;
    move(now.x - before.x, now.y - before.y);
  }, [layout, move]);

  const { x, y, scale } = view;
  const right = x + size.width / scale;
  const below = y + size.height / scale;
  const nodes = layout.nodes.filter((node) => node.x < right && node.x + 208 > x && node.y < below && node.y + 46 > y);
  const forks = layout.forks.filter((fork) => fork.x < right && fork.stem > x && fork.top < below && fork.bottom > y);
  const chosen = (event: React.MouseEvent): MapNode | undefined => {
    const id = (event.target as Element).closest("[data-node]")?.getAttribute("data-node");
    return layout.nodes.find(({ row }) => row.id === id);
  };
  return (
    // The map has a left and a right, whatever the text direction.
    <div dir="ltr" className="relative min-h-0 flex-1">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the outline is the same tree for the keyboard. */}
      <svg
        ref={svg}
        role="img"
        aria-label={tCount(
          rows.length,
          "Map of the branches, {count} node. For the keyboard, use the outline.",
          "Map of the branches, {count} nodes. For the keyboard, use the outline.",
        )}
        className="absolute inset-0 h-full w-full cursor-grab touch-none select-none text-xs"
        onClick={(event) => {
          const node = wasDragged() ? undefined : chosen(event);
          if (!node) return;
          if (!(event.target as Element).closest("[data-spread]")) return onSelect(node.row);
          anchor.current = node;
          stays.current = inView.has(node.row.id);
          onSpread(node.row);
        }}
      >
        <title>{t("Map of the branches")}</title>
        <g transform={`scale(${scale}) translate(${-x} ${-y})`}>
          <g fill="none" className="stroke-line">
            {forks.map((fork) => (
              <path
                key={fork.id}
                d={`M${fork.x} ${fork.y}H${fork.stem}M${fork.stem} ${Math.min(fork.top, fork.y)}V${Math.max(fork.bottom, fork.y)}`}
              />
            ))}
            {nodes.map((node) => node.row.parent !== undefined && <path key={node.row.first} d={branchTo(node)} />)}
          </g>
          {nodes.map((node) => (
            <Node
              key={node.row.first}
              node={node}
              words={wordsOf(node.row)}
              isInView={inView.has(node.row.id)}
              isSpread={spread.has(node.row.first)}
              hasWords={scale >= LEGIBLE}
            />
          ))}
        </g>
      </svg>
      <div role="toolbar" aria-label={t("Map controls")} className="absolute right-2 bottom-2 flex gap-1">
        <Tool name={t("Move left")} sign="←" onClick={() => pan(-0.5, 0)} />
        <Tool name={t("Move up")} sign="↑" onClick={() => pan(0, -0.5)} />
        <Tool name={t("Move down")} sign="↓" onClick={() => pan(0, 0.5)} />
        <Tool name={t("Move right")} sign="→" onClick={() => pan(0.5, 0)} />
        <Tool name={t("Zoom out")} sign="−" onClick={() => zoom(1 / 1.25)} />
        <Tool name={t("Zoom in")} sign="+" onClick={() => zoom(1.25)} />
        <Tool name={t("Zoom to fit")} sign={<Icon of="whole" />} onClick={showWhole} />
        <Tool name={t("Center the current branch")} sign="◎" onClick={() => setShown(undefined)} />
      </div>
    </div>
  );
}

const WORDS = 26;

function Node({
  node: { row, x, y },
  words,
  isInView,
  isSpread,
  hasWords,
}: {
  readonly node: MapNode;
  readonly words: string;
  readonly isInView: boolean;
  readonly isSpread: boolean;
  readonly hasWords: boolean;
}) {
  const { id, messages, isRunning, isWaiting, hits } = row;
  const fold = isSpread ? t("collapse") : messages > 1 ? tCount(messages, "{count} message", "{count} messages") : "";
  return (
    <g data-node={id} data-in-view={isInView} transform={`translate(${x} ${y})`} className="cursor-pointer">
      <rect
        width={NODE.width}
        height={NODE.height}
        rx={6}
        strokeWidth={isInView ? 2 : 1}
        className={`${hits > 0 ? "fill-warn-ground" : isInView ? "fill-leaf-ground" : "fill-raised"} ${isInView ? "stroke-leaf" : "stroke-line"}`}
      />
      {hasWords && (
        <>
          <svg aria-hidden="true" x={8} width={NODE.width - 12} height={18}>
            <text y={14} className="fill-ink">
              {words.length > WORDS ? `${words.slice(0, WORDS - 1).trimEnd()}…` : words}
            </text>
          </svg>
          <text x={8} y={28} className="fill-soft text-[10px]">
            {isWaiting && <tspan className="fill-warn">● {t("waiting for you")} </tspan>}
            {isRunning && !isWaiting && <tspan className="fill-leaf">◐ {t("running")} </tspan>}
            {hits > 0 && <tspan className="fill-warn">{`${tCount(hits, "{count} hit", "{count} hits")} `}</tspan>}
            {fold !== "" && (
              <tspan data-spread="" className="underline">
                {fold}
              </tspan>
            )}
          </text>
        </>
      )}
    </g>
  );
}

function Tool({
  name,
  sign,
  onClick,
}: {
  readonly name: string;
  readonly sign: ReactNode;
  readonly onClick: () => void;
}) {
  return (
    <button
      type="button"
      aria-label={name}
      title={name}
      onClick={onClick}
      className="grid size-7 place-items-center rounded border border-line bg-ground hover:bg-sunken"
    >
      {sign}
    </button>
  );
}
