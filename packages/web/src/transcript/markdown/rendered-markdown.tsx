import { visibleProse } from "@banyan/core/shown";
import { Children, createContext, isValidElement, memo, type ReactNode, Suspense, useContext, useMemo } from "react";
import ReactMarkdown, { type Components, type Options } from "react-markdown";
import remarkGfm from "remark-gfm";
import remend from "remend";
import { lazily } from "../../parts/browser/lazily.ts";
import { CodeBlock } from "../../parts/code/code-block.tsx";
import { IconButton } from "../../parts/design/button.tsx";
import { useMay } from "../../parts/page/use-may.ts";
import { t } from "../../parts/phrases/phrases.ts";
import { artifactOf } from "../artifacts/artifact.ts";
import { Diagram } from "../artifacts/diagram.tsx";
import { useOpenArtifact } from "../artifacts/open-artifact.ts";
import { type MarkdownBlock, markdownBlocks } from "./markdown-blocks.ts";
import { type Formula, formulaIn, formulasAsCode } from "./math.ts";
import { footnotesIn, type NoteEnd, NoteLink, ReferredNotes } from "./note-link.tsx";
import { safeHtml } from "./safe-html.ts";
import { shownReferences } from "./shown-references.ts";
import { InsideLink, type NamedPicture, WebPicture } from "./web-picture.tsx";

/**
 * Renders Markdown block by block, so that only the last block of a streaming text renders again. Shows bidirectional
 * controls and zero-width characters as escapes, as the terminal does (S12); a copy of the message keeps the original.
 */
export function RenderedMarkdown({ text, isStreaming }: { readonly text: string; readonly isStreaming: boolean }) {
  const blocks = useMemo(() => markdownBlocks(text), [text]);
  const referred = useMemo(() => footnotesIn(text), [text]);
  return (
    <ReferredNotes value={referred}>
      <div data-notes="" className="flex flex-col gap-3">
        {blocks.map((block, index) => {
          const isGrowing = isStreaming && index === blocks.length - 1;
          // Blocks are only appended, so that the index identifies a block.
          return <Block key={index} {...block} isGrowing={isGrowing} />;
        })}
      </div>
    </ReferredNotes>
  );
}

/** A single tilde before a number means "about" and strikes nothing out (W93). */
const ONLY_DOUBLE = { singleTilde: false };

const Block = memo(function Block({
  raw,
  before,
  used,
  isGrowing,
}: MarkdownBlock & {
  readonly isGrowing: boolean;
}) {
  const plugins = useMemo(
    (): Options["remarkPlugins"] => [
      [remarkGfm, ONLY_DOUBLE],
      shownReferences({ from: before.length, used }),
      safeHtml,
      visibleTexts,
    ],
    [before, used],
  );
  return (
    <Growing value={isGrowing}>
      <ReactMarkdown remarkPlugins={plugins} components={COMPONENTS}>
        {before + formulasAsCode(isGrowing ? closeOpenMarkup(raw) : raw)}
      </ReactMarkdown>
    </Growing>
  );
});

function closeOpenMarkup(raw: string): string {
  const [, bracket] = /\[[^\][<]*\]\((<?)[^()<>\s\\]*$/.exec(raw) ?? [];
  const end = bracket === undefined ? "" : bracket === "" ? ")" : ">)";
  // Only link text without an address is closed; other constructs stay as written.
  const links = /\[[^\][<]+$/.test(raw);
  return remend(raw + end, { images: false, htmlTags: false, links });
}

const Growing = createContext(false);

function Fenced({ children }: { readonly children?: ReactNode }) {
  const isGrowing = useContext(Growing);
  const { className = "", children: text = "" } = isValidElement<{ className?: string; children?: ReactNode }>(children)
    ? children.props
    : {};
  const language = /language-(\S+)/.exec(className)?.[1] ?? "";
  return <Fence text={String(text).replace(/\n$/, "")} language={language} isGrowing={isGrowing} />;
}

function Fence(code: { readonly text: string; readonly language: string; readonly isGrowing: boolean }) {
  const open = useOpenArtifact();
  const artifact = code.isGrowing ? undefined : artifactOf(code.language, code.text);
  const actions = open && artifact && (
    <IconButton isSmall name={t("Open beside the conversation")} icon="beside" onClick={() => open(artifact)} />
  );
  if (code.language.toLowerCase() !== "mermaid") return <CodeBlock {...code} actions={actions} />;
  return <Diagram text={code.text} isGrowing={code.isGrowing} actions={actions} />;
}

function LowHeading({ children }: { readonly children?: ReactNode }) {
  return (
    <h6 dir="auto" className="font-semibold text-soft">
      {children}
    </h6>
  );
}

/** Model text is data: only harmless HTML tags, no images from other hosts, and links that show their address (S12). */
const COMPONENTS: Components = {
  a: ({ href, title, children, node }) =>
    // The sanitizer removed an address that could run code.
    href ? (
      <>
        <a
          href={href}
          title={title ? `${title} (${href})` : href}
          rel="noreferrer noopener"
          target="_blank"
          className="text-leaf underline"
        >
          <InsideLink value={true}>{Children.count(children) === 0 ? href : children}</InsideLink>
        </a>
        {node && <PicturesOfLink of={node} />}
      </>
    ) : (
      children
    ),
  img: ({ src, alt, title }) => <WebPicture {...namedPicture({ src, alt, title })} />,
  pre: Fenced,
  code: ({ children }) => {
    const formula = formulaIn(String(children));
    if (formula) return <MathFormula {...formula} />;
    return <code className="rounded bg-sunken px-1 font-mono text-[0.9em]">{children}</code>;
  },
  // Tags from model text have no attributes: only footnotes have these.
  sup: ({ children, ...rest }) => {
    const { "data-note": label, "data-end": end } = rest as { "data-note"?: string; "data-end"?: NoteEnd };
    return label === undefined || end === undefined ? <sup>{children}</sup> : <NoteLink label={label} end={end} />;
  },
  kbd: ({ children }) => (
    <kbd className="rounded border border-line border-b-2 bg-raised px-1.5 font-mono text-[0.8em]">{children}</kbd>
  ),
  details: ({ children }) => (
    <details dir="auto" className="rounded-lg border border-hair px-3 py-2">
      {children}
    </details>
  ),
  summary: ({ children }) => <summary className="cursor-pointer font-medium">{children}</summary>,
  // No direction of its own: the paragraph's text decides.
  p: ({ children }) => <p className="[unicode-bidi:plaintext]">{children}</p>,
  li: ({ children, className }) => (
    <li dir="auto" className={`ms-6 ${className ?? ""}`}>
      {children}
    </li>
  ),
  // The checkbox of a task list: no other Markdown makes an input.
  input: ({ checked }) => (
    <input type="checkbox" disabled checked={checked} aria-label={checked ? t("Done") : t("Not done yet")} />
  ),
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this element.
    <section aria-label={t("Table")} tabIndex={0} className="overflow-x-auto">
      {/* The table scrolls, so that its words need not break. */}
      <table dir="auto" className="wrap-normal border-collapse text-sm">
        {children}
      </table>
    </section>
  ),
  // `style` holds the alignment of the column.
  th: ({ children, style }) => (
    <th style={style} className="border border-hair px-2 py-1 text-start">
      {children}
    </th>
  ),
  td: ({ children, style }) => (
    <td style={style} className="border border-hair px-2 py-1 align-top">
      {children}
    </td>
  ),
  // The checkboxes of a task list replace the bullets.
  ul: ({ children, className }) => <ul className={`${className ? "list-none" : "list-disc"}`}>{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="list-decimal">
      {children}
    </ol>
  ),
  h1: ({ children }) => (
    <h3 dir="auto" className="font-semibold text-xl">
      {children}
    </h3>
  ),
  h2: ({ children }) => (
    <h4 dir="auto" className="font-semibold text-lg">
      {children}
    </h4>
  ),
  h3: ({ children }) => (
    <h5 dir="auto" className="font-semibold">
      {children}
    </h5>
  ),
  h4: LowHeading,
  h5: LowHeading,
  h6: LowHeading,
  hr: () => <hr className="border-hair" />,
  blockquote: ({ children }) => (
    <blockquote dir="auto" className="border-line border-s-2 ps-3 text-soft">
      {children}
    </blockquote>
  ),
};

function namedPicture({ src, alt, title }: Readonly<Record<"src" | "alt" | "title", unknown>>): NamedPicture {
  return { src: String(src ?? ""), alt: String(alt ?? ""), title: String(title ?? "") };
}

interface DrawnElement {
  readonly type: string;
  readonly tagName?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly children?: readonly DrawnElement[];
}

/** The images inside a link, such as badges: the link shows their text, and buttons next to it load them. */
function PicturesOfLink({ of: link }: { readonly of: DrawnElement }) {
  const may = useMay();
  const found: NamedPicture[] = [];
  const look = ({ tagName, properties, children = [] }: DrawnElement) => {
    if (tagName === "img") found.push(namedPicture({ src: "", alt: "", title: "", ...properties }));
    for (const child of children) look(child);
  };
  if (may("picture.read")) look(link);
  return found.map((picture, index) => <WebPicture key={index} {...picture} />);
}

interface MarkdownNode {
  value?: string;
  title?: string | null;
  alt?: string | null;
  readonly children?: readonly MarkdownNode[];
}

/**
 * A remark plugin that escapes bidirectional controls and zero-width characters, as the terminal does. It runs after
 * parsing, because `&#x202e;` becomes such a character only then.
 */
function visibleTexts() {
  return (tree: MarkdownNode): void => {
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

const Typeset = lazily(async () => ({ default: (await import("./typeset-formula.tsx")).TypesetFormula }));

/** A formula; its source until the typesetter is loaded, or if the formula is invalid (W58). */
function MathFormula(formula: Formula) {
  const source = <FormulaSource {...formula} />;
  return (
    <Suspense fallback={source}>
      <Typeset {...formula} source={source} />
    </Suspense>
  );
}

function FormulaSource({ tex, isDisplay }: Formula) {
  const look = "rounded bg-sunken px-1 font-mono text-[0.9em]";
  return isDisplay ? <code className={`block w-fit ${look}`}>{tex}</code> : <code className={look}>{tex}</code>;
}
