import { createContext, type MouseEvent, useContext } from "react";
import { t } from "../../parts/phrases/phrases.ts";
import { normalizeLabel } from "./markdown-blocks.ts";

export const ReferredNotes = createContext<ReadonlySet<string>>(new Set());

/** Returns the labels (`normalizeLabel`) of the footnotes that a text refers to. */
export function footnotesIn(text: string): ReadonlySet<string> {
  if (!text.includes("[^")) return NONE;
  return new Set([...text.matchAll(/\[\^([^\]\s]+)\](?!:)/g)].map(([, label = ""]) => normalizeLabel(label)));
}

const NONE: ReadonlySet<string> = new Set();

export type NoteEnd = "reference" | "note";

/** The raised label of a footnote: a link between the note and the first reference to it. */
export function NoteLink({ label, end }: { readonly label: string; readonly end: NoteEnd }) {
  const referred = useContext(ReferredNotes);
  // A note without references needs no link back.
  if (end === "note" && !referred.has(normalizeLabel(label))) return <sup>{label}</sup>;
  const other: NoteEnd = end === "note" ? "reference" : "note";
  const lead = (event: MouseEvent<HTMLElement>) => {
    event.preventDefault();
    const all = [...(event.currentTarget.closest("[data-notes]")?.querySelectorAll<HTMLElement>("a[data-note]") ?? [])];
    const there = all.find(({ dataset }) => dataset.end === other && dataset.note === normalizeLabel(label));
    there?.focus({ preventScroll: true });
    there?.scrollIntoView({ block: "nearest" });
  };
  return (
    <sup>
      <a
        href={`#${encodeURIComponent(label)}`}
        role={end === "reference" ? "doc-noteref" : "doc-backlink"}
        data-note={normalizeLabel(label)}
        data-end={end}
        aria-label={
          end === "reference" ? t("{label}: to the footnote", { label }) : t("{label}: back to the text", { label })
        }
        onClick={lead}
        className="px-0.5 text-leaf hover:underline"
      >
        {label}
      </a>
    </sup>
  );
}
