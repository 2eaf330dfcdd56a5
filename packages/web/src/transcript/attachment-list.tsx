import { formatBytes, type Reference } from "@banyan/client/words";
import { visibleLine } from "@banyan/core/shown";
import { type ReactNode, useState } from "react";
import { IconButton } from "../parts/design/button.tsx";
import { TextArea } from "../parts/design/field.tsx";
import { Icon } from "../parts/design/icon.tsx";
import { ErrorText } from "../parts/design/notice.tsx";
import { t } from "../parts/phrases/phrases.ts";
import { attachmentText, type ComposerAttachments, isBrowserPicture } from "./attachments.ts";

/** Lists the files of the next message, attached or named with `@`, each with its size and a remove button (W66). */
export function AttachmentList({
  files: { all, edit, remove, problem, warning },
  named = [],
  onUnname,
}: {
  readonly files: ComposerAttachments;
  readonly named?: readonly Reference[];
  onUnname?(reference: Reference): void;
}) {
  const [open, setOpen] = useState<string>();
  const opened = all.find(({ key }) => key === open);
  const text = opened && attachmentText(opened);
  if (all.length + named.length === 0 && problem === undefined) return null;
  return (
    <div className="flex flex-col gap-1.5 px-3 pt-3">
      {all.length + named.length > 0 && (
        <ul aria-label={t("Attached files")} className="flex max-h-40 flex-wrap gap-2 overflow-y-auto">
          {all.map((attachment) => {
            const { key, name, mediaType, size, part } = attachment;
            const toggle = () => setOpen(open === key ? undefined : key);
            return (
              <Chip
                key={key}
                name={name}
                about={[
                  formatBytes(size),
                  visibleLine((attachmentText(attachment) ?? "").trimStart().split("\n", 1)[0]?.slice(0, 80) ?? ""),
                ]
                  .filter((each) => each !== "")
                  .join(" · ")}
                isOpen={open === key}
                {...(attachmentText(attachment) !== undefined && { onOpen: toggle })}
                onRemove={() => remove(attachment)}
              >
                {isBrowserPicture(mediaType) && part.type === "file" ? (
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
            <Chip key={reference.name} name={reference.name} onRemove={() => onUnname?.(reference)}>
              <Icon of="file" />
            </Chip>
          ))}
        </ul>
      )}
      {opened && text !== undefined && (
        <TextArea
          key={opened.key}
          rows={8}
          ref={takesFocusAtStart}
          aria-label={opened.name}
          value={text}
          onChange={({ target }) => edit(opened, target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            setOpen(undefined);
          }}
        />
      )}
      <p role="status" className="text-sm text-warn empty:hidden">
        {warning}
      </p>
      <ErrorText className="text-sm">{problem}</ErrorText>
    </div>
  );
}

function takesFocusAtStart(box: HTMLTextAreaElement | null): void {
  if (!box) return;
  box.focus();
  box.setSelectionRange(0, 0);
  box.scrollTop = 0;
}

function Chip({
  name,
  about,
  children,
  isOpen,
  onOpen,
  onRemove,
}: {
  readonly name: string;
  readonly about?: string;
  readonly children: ReactNode;
  readonly isOpen?: boolean;
  onOpen?(): void;
  onRemove(): void;
}) {
  const words = (
    <>
      {children}
      <span className="min-w-0 text-start">
        <span dir="auto" className="block max-w-40 truncate font-medium">
          {name}
        </span>
        {about !== undefined && (
          <span dir="auto" className="block max-w-40 truncate text-soft">
            {about}
          </span>
        )}
      </span>
    </>
  );
  return (
    <li className="flex max-w-full items-center gap-2 rounded-lg border border-hair bg-raised p-1 ps-1.5 text-xs">
      {onOpen ? (
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={t("View or edit {name}", { name })}
          onClick={onOpen}
          className="flex min-w-0 items-center gap-2 rounded-md hover:bg-sunken"
        >
          {words}
        </button>
      ) : (
        words
      )}
      <IconButton isSmall name={t("Remove {name}", { name })} icon="close" onClick={onRemove} />
    </li>
  );
}
