interface HtmlNode {
  type: string;
  value?: string;
  children?: HtmlNode[];
  data?: object;
}

/** Tags without attributes that only change the look of text. Every other tag stays text (W57, S12). */
const TAGS: ReadonlySet<string> = new Set(
  "sub sup kbd b i strong em u s del ins mark small q var samp code".split(" "),
);

/**
 * A remark plugin that accepts a few HTML tags without attributes: `<br>`, tags such as `<b>` that change how text
 * looks, and `<details>` with `<summary>`. Unclosed tags and tags with attributes stay text.
 */
export function safeHtml() {
  return (tree: HtmlNode): void => {
    for (const open = [tree]; ; ) {
      const node = open.pop();
      if (!node) return;
      if (node.children) node.children = foldDetails(paired(node.children));
      open.push(...(node.children ?? []));
    }
  };
}

function paired(nodes: readonly HtmlNode[]): HtmlNode[] {
  const done: HtmlNode[] = [];
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

/** Folds everything from `<details>` to its end or, while streaming, to the end of the text. */
function foldDetails(nodes: readonly HtmlNode[]): HtmlNode[] {
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
  const inside = [...textNodes(within), ...(isWhole ? [] : nodes.slice(from + 1, last)), ...textNodes(before)];
  const details: HtmlNode = {
    type: "blockquote",
    data: { hName: "details" },
    children: [
      { type: "paragraph", data: { hName: "summary" }, children: [{ type: "text", value: summary.trim() }] },
      ...inside,
    ],
  };
  return [
    ...nodes.slice(0, from),
    details,
    ...textNodes(behind),
    ...textNodes(after),
    ...foldDetails(nodes.slice(last + 1)),
  ];
}

const DETAILS = /^\s*<details(?:\s+open)?>\s*(?:<summary>([\s\S]*?)<\/summary>)?([\s\S]*)$/i;
const END = /<\/details>/i;

function textNodes(text: string | undefined): HtmlNode[] {
  const words = text?.trim() ?? "";
  return words === "" ? [] : [{ type: "paragraph", children: [{ type: "text", value: words }] }];
}
