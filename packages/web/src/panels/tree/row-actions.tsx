import type { Message } from "@banyan/core/conversation";
import { useState } from "react";
import { takesFocus } from "../../parts/browser/focus-on.ts";
import { useConversation } from "../../parts/conversation/use-conversation.ts";
import { Button } from "../../parts/design/button.tsx";
import { TextField } from "../../parts/design/field.tsx";
import { usePage } from "../../parts/page/page.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { t, tCount } from "../../parts/phrases/phrases.ts";
import type { OutlineRow } from "./rows.ts";

/** Buttons that star or name the focused row, show only this part of the tree, or expand the row (W13, W20). */
export function RowActions({
  row,
  words,
  message,
  onHoist,
  isSpread,
  onSpread,
}: {
  readonly row: OutlineRow;
  readonly words: string;
  readonly message: Message | undefined;
  readonly onHoist: () => void;
  readonly isSpread: boolean;
  readonly onSpread: () => void;
}) {
  const page = usePage();
  const { connection } = page;
  const may = useMay();
  const { id: conversation } = useConversation();
  const [name, setName] = useState<string>();
  const star = () =>
    connection.ask("message.star", { conversation, message: row.id, starred: message?.starred !== true });
  const save = async (label: string) => {
    setName(undefined);
    await connection.ask("message.label", { conversation, message: row.id, label: label.trim() || null });
  };
  return (
    <section aria-label={t("Selected branch")} className="flex flex-col gap-1 border-hair border-t p-2 text-xs">
      <p className="truncate text-soft">{words}</p>
      {name === undefined ? (
        <div className="flex flex-wrap gap-1">
          {may("message.star") && (
            <Button isSmall onClick={() => page.told(star())}>
              {message?.starred ? `★ ${t("Unstar")}` : `☆ ${t("Star")}`}
            </Button>
          )}
          {may("message.label") && (
            <Button isSmall onClick={() => setName(message?.label ?? "")}>
              {t("Name …")}
            </Button>
          )}
          {row.parent !== undefined && (
            <Button isSmall onClick={onHoist}>
              {t("Show only this")}
            </Button>
          )}
          {(row.messages > 1 || isSpread) && (
            <Button isSmall onClick={onSpread}>
              {isSpread
                ? t("Collapse messages")
                : tCount(row.messages, "Show the message of this row", "Show the {count} messages of this row")}
            </Button>
          )}
        </div>
      ) : (
        <form
          className="flex gap-1"
          onSubmit={(event) => {
            event.preventDefault();
            page.told(save(name));
          }}
        >
          <TextField
            ref={takesFocus}
            aria-label={t("Name of the branch")}
            value={name}
            maxLength={200}
            onChange={({ target }) => setName(target.value)}
            onKeyDown={({ key }) => {
              if (key === "Escape") setName(undefined);
            }}
          />
          <Button isSmall type="submit">
            {t("Save")}
          </Button>
        </form>
      )}
    </section>
  );
}
