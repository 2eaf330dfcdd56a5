import { defaultUrlTransform } from "react-markdown";
import { normalizeLabel } from "./markdown-blocks.ts";
import type { NoteEnd } from "./note-link.tsx";

interface ReferenceNode {
  type: string;
  children?: ReferenceNode[];
  value?: string;
  identifier?: string;
  label?: string | null;
  url?: string;
  title?: string | null;
  data?: object;
  readonly position?: { readonly start: { readonly offset?: number } };
}

/**
 * A remark plugin for a block that was parsed with the definitions of other blocks before it. Everything that the model
 * wrote stays visible: footnotes stay in place, and an unused link definition becomes a line.
 * @param from The offset of the block in the parsed text.
 * @param used The labels that links of the whole text use, one per line.
 */
export function shownReferences({ from, used }: { readonly from: number; readonly used: string }) {
  const labels = new Set(used.split("\n"));
  const shown = (node: ReferenceNode): ReferenceNode => {
    switch (node.type) {
      case "footnoteReference":
        return note(node.label ?? node.identifier ?? "", "reference");
      case "footnoteDefinition": {
        const [first, ...rest] = (node.children ?? []).map(shown);
        const label = [note(node.label ?? node.identifier ?? "", "note"), text(" ")];
        const begun =
          first?.type === "paragraph"
            ? [{ ...first, children: [...label, ...(first.children ?? [])] }, ...rest]
            : [paragraph(label), ...(first ? [first, ...rest] : rest)];
        return { type: "blockquote", children: begun };
      }
      case "definition":
        if (labels.has(normalizeLabel(node.label ?? node.identifier ?? ""))) return node;
        return paragraph([
          text(`[${node.label ?? node.identifier}]: `),
          { type: "link", url: node.url ?? "", children: [text(node.url ?? "")] },
          text(node.title ? ` “${node.title}”` : ""),
        ]);
      case "link":
        node.children = node.children?.map(shown) ?? [];
        // An address that could run code gets no link but stays readable.
        if (defaultUrlTransform(node.url ?? "") === "" && node.url) node.children.push(text(` (${node.url})`));
        return node;
      default:
        if (node.children) node.children = node.children.map(shown);
        return node;
    }
  };
  return () =>
    (tree: ReferenceNode): ReferenceNode => ({
      ...tree,
      children: (tree.children ?? []).flatMap((node) => {
        if ((node.position?.start.offset ?? 0) >= from) return [shown(node)];
        // Definitions of other blocks are used here, and are shown in their own blocks.
        return node.type === "definition" ? [node] : [];
      }),
    });
}

const text = (value: string): ReferenceNode => ({ type: "text", value });
const paragraph = (children: ReferenceNode[]): ReferenceNode => ({ type: "paragraph", children });

const note = (label: string, end: NoteEnd): ReferenceNode => ({
  type: "emphasis",
  data: { hName: "sup", hProperties: { dataNote: label, dataEnd: end } },
  children: [text(label)],
});
