/** As much of a node of a Markdown tree as is looked at here. */
interface Node {
  type: string;
  value?: string;
  children?: Node[];
  data?: object;
}

/** Tags that only say how words look, and can do nothing: without attributes. Every other one is text (W57, S12). */
const TAGS: ReadonlySet<string> = new Set(
  "sub sup kbd b i strong em u s del ins mark small q var samp code".split(" "),
);

/**
 * A plugin of remark: of the HTML that a model writes, a short list of tags without attributes becomes what it means: `<br>`, what
 * says how words look, and `<details>` with its `<summary>`. What is not closed, or has attributes, stays as it was written.
 */
export function safeHtml() {
  return (tree: Node): void => {
    for (const open = [tree]; ; ) {
      const node = open.pop();
      if (!node) return;
      if (node.children) node.children = folded(paired(node.children));
      open.push(...(node.children ?? []));
    }
  };
}

/** Of neighbours, what stands between a tag and its end becomes one element. */
function paired(nodes: readonly Node[]): Node[] {
  const done: Node[] = [];
  /** Tags that wait for their end, by where they stand in `done`. */
  const open: { readonly tag: string; readonly at: number }[] = [];
  for (const node of nodes) {
    const [, slash, name = ""] = node.type === "html" ? (/^<(\/?)([a-z]+)\s*\/?>$/i.exec(node.value ?? "") ?? []) : [];
    const tag = name.toLowerCase();
    if (tag === "br" && slash === "") done.push({ type: "break" });
    else if (slash === "" && TAGS.has(tag)) {
      open.push({ tag, at: done.length });
      done.push(node);
    } else if (slash === "/" && open.some((each) => each.tag === tag)) {
      const from = open.splice(open.findLastIndex((each) => each.tag === tag))[0]?.at ?? done.length;
      const children = done.splice(from).slice(1);
      done.push({ type: "emphasis", data: { hName: tag }, children });
    } else done.push(node);
  }
  return done;
}

/** Everything from `<details>` to its end, or, while it streams, to the end of what is there, can be folded. */
function folded(nodes: readonly Node[]): Node[] {
  const from = nodes.findIndex(({ type, value = "" }) => type === "html" && DETAILS.test(value));
  if (from < 0) return [...nodes];
  const [, summary = "Details", rest = ""] = DETAILS.exec(nodes[from]?.value ?? "") ?? [];
  const [within, behind] = rest.split(END, 2);
  const isWhole = behind !== undefined;
  const end = isWhole
    ? from
    : nodes.findIndex(({ type, value = "" }, at) => at > from && type === "html" && END.test(value));
  const last = end < 0 ? nodes.length : end;
  const closing = isWhole || end < 0 ? "" : (nodes[end]?.value ?? "");
  const [before = "", after = ""] = closing.split(END, 2);
  const inside = [...said(within), ...(isWhole ? [] : nodes.slice(from + 1, last)), ...said(before)];
  const details: Node = {
    type: "blockquote",
    data: { hName: "details" },
    children: [
      { type: "paragraph", data: { hName: "summary" }, children: [{ type: "text", value: summary.trim() }] },
      ...inside,
    ],
  };
  return [...nodes.slice(0, from), details, ...said(behind), ...said(after), ...folded(nodes.slice(last + 1))];
}

const DETAILS = /^\s*<details(?:\s+open)?>\s*(?:<summary>([\s\S]*?)<\/summary>)?([\s\S]*)$/i;
const END = /<\/details>/i;

function said(text: string | undefined): Node[] {
  const words = text?.trim() ?? "";
  return words === "" ? [] : [{ type: "paragraph", children: [{ type: "text", value: words }] }];
}
