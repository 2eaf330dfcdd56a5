import type Turndown from "turndown";

/** What rules want to know of a table; `head` is its first row. */
interface Table {
  /** Whether it holds data, and does not lay the page out: no other table in it, and more than one column. */
  readonly isData: boolean;
  readonly head: Element | null;
}

/** Writes tables of data as Markdown has them; tables that lay a page out stay a sequence of texts. */
export function tables(turndown: Turndown): void {
  const known = new WeakMap<Element, Table>();
  const tableOf = (node: HTMLElement): Table => {
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

function look(table: Element): Table {
  const head = table.querySelector("tr");
  const isNested = table.querySelector("table") !== null || table.closest("td") !== null;
  return { isData: !isNested && head !== null && cellsIn(head) > 1, head };
}

function cellsIn(row: Element): number {
  return row.querySelectorAll("td,th").length;
}
