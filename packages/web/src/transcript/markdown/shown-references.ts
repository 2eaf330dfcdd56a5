import { defaultUrlTransform } from "react-markdown";
import { labelOf } from "./markdown-blocks.ts";
import type { NoteEnd } from "./note-link.tsx";

/** As much of a node of a Markdown tree as is looked at here. */
interface Node {
  type: string;
  children?: Node[];
  value?: string;
  identifier?: string;
  label?: string | null;
  url?: string;
  title?: string | null;
  data?: object;
  readonly position?: { readonly start: { readonly offset?: number } };
}

/**
 * Makes a block of what was read with the definitions of other blocks before it, so that all that was written is seen:
 * footnotes stand where they were written, and a link that is defined and that nobody refers to stands as a line.
 *
 * @param from Where the block begins in what was read.
 * @param used The labels that links of the whole text refer to, one a line.
 */
export function shownReferences({ from, used }: { readonly from: number; readonly used: string }) {
  const labels = new Set(used.split("\n"));
  const shown = (node: Node): Node => {
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
        if (labels.has(labelOf(node.label ?? node.identifier ?? ""))) return node;
        return paragraph([
          text(`[${node.label ?? node.identifier}]: `),
          { type: "link", url: node.url ?? "", children: [text(node.url ?? "")] },
          text(node.title ? ` “${node.title}”` : ""),
        ]);
      case "link":
        node.children = node.children?.map(shown) ?? [];
        // An address that could run something leads nowhere; what it is can be read.
        if (defaultUrlTransform(node.url ?? "") === "" && node.url) node.children.push(text(` (${node.url})`));
        return node;
      default:
        if (node.children) node.children = node.children.map(shown);
        return node;
    }
  };
  return () =>
    (tree: Node): Node => ({
      ...tree,
      children: (tree.children ?? []).flatMap((node) => {
        if ((node.position?.start.offset ?? 0) >= from) return [shown(node)];
        // What other blocks define leads somewhere, and is seen where they stand.
        return node.type === "definition" ? [node] : [];
      }),
    });
}

const text = (value: string): Node => ({ type: "text", value });
const paragraph = (children: Node[]): Node => ({ type: "paragraph", children });

/** The label of a footnote, raised, which leads to its other end. */
const note = (label: string, end: NoteEnd): Node => ({
  type: "emphasis",
  data: { hName: "sup", hProperties: { dataNote: label, dataEnd: end } },
  children: [text(label)],
});
