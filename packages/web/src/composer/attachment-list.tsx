import { formatBytes } from "@banyan/core/shown";
import { IconButton } from "../design/button.tsx";
import { Icon } from "../design/icon.tsx";
import { type Attachments, isPicture } from "./attachments.ts";

/** The files that go along with the next message: what they are, how large, and the way to leave one out (W66). */
export function AttachmentList({ files: { all, remove, problem } }: { readonly files: Attachments }) {
  if (all.length === 0 && problem === undefined) return null;
  return (
    <div className="px-3 pt-3">
      {all.length > 0 && (
        <ul aria-label="Files that go along" className="flex max-h-40 flex-wrap gap-2 overflow-y-auto">
          {all.map((attachment) => {
            const { key, name, mediaType, size, part } = attachment;
            return (
              <li
                key={key}
                className="flex max-w-full items-center gap-2 rounded-lg border border-hair bg-raised p-1 pl-1.5 text-xs"
              >
                {isPicture(mediaType) && part.type === "file" ? (
                  <img
                    src={`data:${mediaType};base64,${part.data}`}
                    alt=""
                    className="size-9 rounded-md object-cover"
                  />
                ) : (
                  <Icon of="file" isLarge />
                )}
                <span className="min-w-0">
                  <span className="block max-w-40 truncate font-medium">{name}</span>
                  <span className="text-soft">{formatBytes(size)}</span>
                </span>
                <IconButton isSmall name={`Leave out ${name}`} icon="close" onClick={() => remove(attachment)} />
              </li>
            );
          })}
        </ul>
      )}
      {problem !== undefined && (
        <p role="alert" className="text-bad text-sm">
          {problem}
        </p>
      )}
    </div>
  );
}
