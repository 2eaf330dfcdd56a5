import { visibleProse } from "@banyan/core/shown";

/** A node of a Markdown tree, as far as it is looked at here. */
interface Node {
  value?: string;
  title?: string | null;
  alt?: string | null;
  readonly children?: readonly Node[];
}

/**
 * A plugin of remark: what turns text around, or has no width, is written out as in the terminals, wherever it comes from:
 * `&#x202e;` is such a character only once it is read.
 */
export function visibleTexts() {
  return (tree: Node): void => {
    for (const open = [tree]; ; ) {
      const node = open.pop();
      if (!node) return;
      if (node.value) node.value = visibleProse(node.value);
      if (node.title) node.title = visibleProse(node.title);
      if (node.alt) node.alt = visibleProse(node.alt);
      open.push(...(node.children ?? []));
    }
  };
}
