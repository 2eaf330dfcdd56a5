import { formatBytes } from "@banyan/client/words";
import type { UserPart } from "@banyan/core/conversation";
import { visibleLine, visibleText } from "@banyan/core/shown";
import { Icon } from "../parts/design/icon.tsx";
import { BYTES, isBrowserPicture } from "./attachments.ts";

/** Shows a file of a message or a call: an image as such, any other file with name and size (W59, W66). */
export function SaidFile({ file }: { readonly file: Extract<UserPart, { type: "file" }> }) {
  const { name, mediaType, data } = file;
  const words = visibleLine(name ?? mediaType);
  if (data !== undefined && isBrowserPicture(mediaType)) {
    return (
      <img
        src={`data:${mediaType};base64,${data}`}
        alt={words}
        className="my-1 max-h-80 max-w-full rounded-lg border border-hair"
      />
    );
  }
  return (
    <p className="my-1 flex items-center gap-1.5 text-sm">
      <Icon of="file" />
      <span className="min-w-0 truncate">{words}</span>
      {data !== undefined && <span className="text-soft text-xs">{formatBytes(data.length * BYTES)}</span>}
    </p>
  );
}

/** Shows the name of a text that was attached to a message, and the whole text on demand (W66). */
export function AttachedText({ text }: { readonly text: string }) {
  const [head = "", kind, named] =
    /^<([\w-]+?)(?:-\d+)?(?=[\s>])(?: name="((?:[^"\\]|\\.)*)")?[^>]*>\n/.exec(text) ?? [];
  const words = visibleLine(named ?? kind ?? "text");
  return (
    <details className="my-1 text-sm">
      <summary className="flex w-fit max-w-full cursor-pointer items-center gap-1.5 rounded-md border border-hair bg-surface px-2 py-0.5">
        <Icon of="file" />
        <span className="min-w-0 truncate">{words}</span>
        <span className="whitespace-nowrap text-soft text-xs">
          {formatBytes(text.replace(/\n<\/[\w-]+>$/, "").length - head.length)}
        </span>
      </summary>
      <pre className="mt-1 max-h-80 overflow-auto whitespace-pre-wrap rounded-md bg-surface p-2 font-mono text-xs">
        {visibleText(text)}
      </pre>
    </details>
  );
}
