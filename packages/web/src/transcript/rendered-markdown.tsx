import { lexer } from "marked";
import { memo, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import remend from "remend";

/** Markdown as it looks, block by block, so that of a text that streams only the last block is drawn again. */
export function RenderedMarkdown({ text, isStreaming }: { readonly text: string; readonly isStreaming: boolean }) {
  const blocks = useMemo(() => lexer(text).map(({ raw }) => raw), [text]);
  return (
    <div className="flex flex-col gap-2">
      {blocks.map((block, index) => (
        // Blocks are only ever added behind: a block's place is its name.
        <Block key={index} text={isStreaming && index === blocks.length - 1 ? remend(block) : block} />
      ))}
    </div>
  );
}

const Block = memo(function Block({ text }: { readonly text: string }) {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
});

const PLUGINS = [remarkGfm];

/** What a model writes is data: no HTML of its own, no picture from another host, and links show where they lead (S12). */
const COMPONENTS: Components = {
  a: ({ href, children }) =>
    // An address that could run something was taken away.
    href ? (
      <a href={href} title={href} rel="noreferrer noopener" target="_blank" className="text-leaf underline">
        {children}
      </a>
    ) : (
      children
    ),
  img: ({ src, alt }) => (
    <span className="text-soft">
      [picture: {alt || "without a description"}
      {typeof src === "string" && src !== "" ? ` at ${src}` : ""}]
    </span>
  ),
  pre: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard.
    <pre tabIndex={0} className="overflow-x-auto rounded-md bg-sunken p-3 text-sm">
      {children}
    </pre>
  ),
  code: ({ children, className }) => (
    <code className={`font-mono text-[0.9em] ${className ?? "rounded bg-sunken px-1"}`}>{children}</code>
  ),
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard.
    <section aria-label="Table" tabIndex={0} className="overflow-x-auto">
      <table className="border-collapse text-sm">{children}</table>
    </section>
  ),
  th: ({ children }) => <th className="border border-hair px-2 py-1 text-left">{children}</th>,
  td: ({ children }) => <td className="border border-hair px-2 py-1 align-top">{children}</td>,
  ul: ({ children }) => <ul className="list-disc pl-6">{children}</ul>,
  ol: ({ children, start }) => (
    <ol start={start} className="list-decimal pl-6">
      {children}
    </ol>
  ),
  h1: ({ children }) => <h3 className="font-semibold text-xl">{children}</h3>,
  h2: ({ children }) => <h4 className="font-semibold text-lg">{children}</h4>,
  h3: ({ children }) => <h5 className="font-semibold">{children}</h5>,
  blockquote: ({ children }) => <blockquote className="border-line border-l-2 pl-3 text-soft">{children}</blockquote>,
};
