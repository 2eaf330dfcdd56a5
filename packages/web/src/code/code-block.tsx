import { CopyButton } from "../shell/copy-button.tsx";
import { Code } from "./code.tsx";

/** Code that stands by itself: its language, and a way to copy it. */
export function CodeBlock(code: { readonly text: string; readonly language: string; readonly isGrowing: boolean }) {
  return (
    <figure className="overflow-hidden rounded-md border border-hair bg-sunken">
      <figcaption className="flex items-center justify-between border-hair border-b px-3 text-soft text-xs">
        <span className="font-mono">{code.language || "text"}</span>
        <CopyButton name="Copy the code" text={code.text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard. */}
      <pre tabIndex={0} className="overflow-x-auto px-3 py-2 text-[0.8125rem] leading-5">
        <code className="font-mono">
          <Code {...code} />
        </code>
      </pre>
    </figure>
  );
}
