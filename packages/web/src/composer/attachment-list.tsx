import { formatBytes, type Reference } from "@banyan/core/shown";
import type { ReactNode } from "react";
import { IconButton } from "../design/button.tsx";
import { Icon } from "../design/icon.tsx";
import { t } from "../phrases/phrases.ts";
import { type Attachments, isPicture } from "./attachments.ts";

/** What goes along with the next message, also what it names with `@`: what it is, how large, and the way to leave it out (W66). */
export function AttachmentList({
  files: { all, remove, problem, warning },
  named,
  onUnname,
}: {
  readonly files: Attachments;
  readonly named: readonly Reference[];
  /** Takes what is named out of the message. */
  onUnname(reference: Reference): void;
}) {
  if (all.length + named.length === 0 && problem === undefined) return null;
  return (
    <div className="flex flex-col gap-1.5 px-3 pt-3">
      {all.length + named.length > 0 && (
        <ul aria-label={t("Files that go along")} className="flex max-h-40 flex-wrap gap-2 overflow-y-auto">
          {all.map((attachment) => {
            const { key, name, mediaType, size, part } = attachment;
            return (
              <Chip key={key} name={name} size={formatBytes(size)} onRemove={() => remove(attachment)}>
                {isPicture(mediaType) && part.type === "file" ? (
                  <img
                    src={`data:${mediaType};base64,${part.data}`}
                    alt=""
                    className="size-9 rounded-md object-cover"
                  />
                ) : (
                  <Icon of="file" isLarge />
                )}
              </Chip>
            );
          })}
          {named.map((reference) => (
            <Chip key={reference.name} name={reference.name} onRemove={() => onUnname(reference)}>
              <Icon of="file" />
            </Chip>
          ))}
        </ul>
      )}
      <p role="status" className="text-sm text-warn empty:hidden">
        {warning}
      </p>
      {problem !== undefined && (
        <p role="alert" className="text-bad text-sm">
          {problem}
        </p>
      )}
    </div>
  );
}

function Chip({
  name,
  size,
  children,
  onRemove,
}: {
  readonly name: string;
  readonly size?: string;
  /** How it looks. */
  readonly children: ReactNode;
  onRemove(): void;
}) {
  return (
    <li className="flex max-w-full items-center gap-2 rounded-lg border border-hair bg-raised p-1 ps-1.5 text-xs">
      {children}
      <span className="min-w-0">
        <span dir="auto" className="block max-w-40 truncate font-medium">
          {name}
        </span>
        {size !== undefined && <span className="text-soft">{size}</span>}
      </span>
      <IconButton isSmall name={t("Leave out {name}", { name })} icon="close" onClick={onRemove} />
    </li>
  );
}
