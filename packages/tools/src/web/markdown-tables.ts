import type Turndown from "turndown";

interface MarkdownTable {
  /** True for a table of data: several columns, and no inner table. Other tables lay out the page. */
  readonly isData: boolean;
  readonly head: Element | null;
}

/** Adds rules to the converter: data tables become Markdown tables, and layout tables become a sequence of texts. */
export function tables(turndown: Turndown): void {
  const known = new WeakMap<Element, MarkdownTable>();
  const tableOf = (node: HTMLElement): MarkdownTable => {
    const element = node.closest("table");
    if (element === null) return { isData: false, head: null };
    const table = known.get(element) ?? look(element);
    known.set(element, table);
    return table;
  };

  turndown.addRule("cell", {
    filter: (node) => /^t[dh]$/i.test(node.nodeName) && tableOf(node).isData,
    replacement: (content) =>
      ` ${content
        .trim()
        .replace(/\s*\n\s*/g, " ")
        .replaceAll("|", "\\|")} |`,
  });
  turndown.addRule("row", {
    filter: (node) => /^tr$/i.test(node.nodeName) && tableOf(node).isData,
    replacement(content, node) {
      const row = node as HTMLElement;
      const line = tableOf(row).head === row ? `\n|${" --- |".repeat(cellsIn(row))}` : "";
      return `\n|${content}${line}`;
    },
  });
  turndown.addRule("table", {
    filter: (node) => /^table$/i.test(node.nodeName) && tableOf(node).isData,
    replacement: (content) => `\n\n${content.trim().replace(/\n{2,}/g, "\n")}\n\n`,
  });
}

function look(table: Element): MarkdownTable {
  const head = table.querySelector("tr");
  const isNested = table.querySelector("table") !== null || table.closest("td") !== null;
  return { isData: !isNested && head !== null && cellsIn(head) > 1, head };
}

function cellsIn(row: Element): number {
  return row.querySelectorAll("td,th").length;
}
