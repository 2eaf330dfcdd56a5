import { isUserMessage } from "@banyan/core/conversation";
import { useState } from "react";
import { messageBeginning } from "../../panels/tree/words.ts";
import { goToView, PageLink } from "../../parts/browser/navigation.tsx";
import { downloadExport, FORMATS } from "../../parts/conversation/export-file.ts";
import { useConversation, useTree } from "../../parts/conversation/use-conversation.ts";
import { Button } from "../../parts/design/button.tsx";
import { Disclosure } from "../../parts/design/disclosure.tsx";
import { TextField } from "../../parts/design/field.tsx";
import { usePage, usePageState } from "../../parts/page/page.ts";
import { useMay } from "../../parts/page/use-may.ts";
import { t } from "../../parts/phrases/phrases.ts";
import { Sharing } from "./share-panel.tsx";

export function ConversationMenu({ leaf }: { readonly leaf: string | null }) {
  const page = usePage();
  const may = useMay();
  const { id } = useConversation();
  return (
    <Disclosure id="more" icon="more" name={t("More about this conversation")}>
      {may("conversation.rename") && <RenameItem />}
      <PageLink
        to={{ conversation: id, leaf: leaf ?? undefined, whole: true }}
        className="mt-3 inline-block min-h-6 text-leaf underline"
      >
        {t("Show all messages")}
      </PageLink>{" "}
      <span className="text-soft text-xs">{t("for printing, or for the search of the browser")}</span>
      {may("share.create") && <Sharing leaf={leaf} />}
      {may("conversation.export") && <h2 className="mt-3 font-medium">{t("Export")}</h2>}
      <ul>
        {FORMATS.filter(() => may("conversation.export")).map(({ format, name, holds }) => (
          <li key={format}>
            <button
              type="button"
              aria-label={t("Export as {name}", { name })}
              onClick={() =>
                page.told(downloadExport(page, { conversation: id, format, ...(leaf === null ? {} : { leaf }) }))
              }
              className="inline-block min-h-6 text-leaf underline"
            >
              {name}
            </button>{" "}
            <span className="text-soft text-xs">{holds}</span>
          </li>
        ))}
      </ul>
      {may("conversation.remove") && <Remove />}
    </Disclosure>
  );
}

function RenameItem() {
  const page = usePage();
  const { id: conversation } = useConversation();
  const [title, setTitle] = useState(useTree()?.title ?? "");
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (title.trim() !== "") page.told(page.connection.ask("conversation.rename", { conversation, title }));
      }}
    >
      <label className="flex min-w-0 flex-1 flex-col">
        {t("Title")}
        <TextField
          value={title}
          placeholder={useTitle()}
          maxLength={500}
          onChange={({ target }) => setTitle(target.value)}
        />
      </label>
      <Button type="submit">{t("Rename")}</Button>
    </form>
  );
}

function Remove() {
  const { removal } = usePage();
  const { id } = useConversation();
  const title = useTitle() ?? t("New conversation");
  const remove = () => {
    removal.begin([id], title);
    goToView({});
  };
  return (
    <div className="mt-3">
      <Button look="bad" onClick={remove}>
        {t("Remove the conversation")}
      </Button>
    </div>
  );
}

/** Returns the name of the current conversation: its title or its beginning; `undefined` before the first message. */
export function useTitle(): string | undefined {
  const conversation = useConversation();
  const tree = useTree();
  const listed = usePageState(({ conversations }) => conversations?.find(({ id }) => id === conversation.id)?.title);
  // A removed conversation is in no list. The first message may be about a worktree, and not from a user.
  const first = tree?.messages.values().find(isUserMessage)?.id;
  return tree?.title ?? (listed || (tree && first && messageBeginning(conversation, tree, first)));
}
