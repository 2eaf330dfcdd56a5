import { createId } from "@banyan/core/conversation";
import { useRef, useState } from "react";
import { IconButton } from "../parts/design/button.tsx";
import { usePage, usePageState } from "../parts/page/page.ts";
import { useMay } from "../parts/page/use-may.ts";
import { t } from "../parts/phrases/phrases.ts";
import { messageInWords, useAttachments } from "../transcript/attachments.ts";
import { useSlashCommands } from "./commands.ts";
import { FIRST_PAGE, keepBeginning, restoreDraft, useDraft } from "./draft.ts";
import { Examples } from "./examples.tsx";
import { MessageBox } from "./message-box.tsx";
import { FilesChoice, ModeChoice, ModelChoice, PresetChoice, useWorktrees } from "./model-choice.tsx";
import type { TurnMode } from "./own.ts";
import { messageParts } from "./server-prompts.ts";

/** The message box that begins a conversation (W63). `opening` returns a function that shows the conversation. */
export function FirstMessage({ opening }: { readonly opening: () => (conversation: string) => Promise<void> }) {
  const page = usePage();
  const { connection } = page;
  const phase = usePageState((state) => state.connection.phase);
  const [text, setText] = useDraft(FIRST_PAGE, "text");
  const [model, setModel] = useState<string>();
  const [mode, setMode] = useState<TurnMode>("chat");
  const [isApart, setApart] = useState(false);
  const hasWorktrees = useWorktrees();
  const mayNameFiles = useMay()("file.find");
  const files = useAttachments(model, useDraft(FIRST_PAGE, "files"));
  const [beginning, setBeginning] = useState<string>();
  const box = useRef<HTMLTextAreaElement>(null);
  const commands = useSlashCommands(text);
  const begin = async (said: ReturnType<typeof messageParts>) => {
    const { conversation } = await connection.ask("conversation.create", {});
    const prepared = async () => {
      if (model !== undefined) await connection.ask("model.use", { model, conversation });
      return hasWorktrees && isApart ? await connection.ask("worktree.open", { conversation }) : undefined;
    };
    // If a step is refused, no part of the conversation may remain.
    const place = await prepared().catch(async (error: unknown) => {
      await connection.ask("conversation.remove", { conversation }).catch(() => {});
      throw error;
    });
    // From here on, the message is stored and shown like any other.
    page.sayFrom({
      id: createId(),
      conversation,
      ...said,
      ...(mode === "task" && { mode }),
      ...(place && { at: place.message }),
    });
    return conversation;
  };
  const send = async () => {
    if (beginning !== undefined || (text.trim() === "" && files.all.length === 0)) return;
    const wait = commands.wait(text);
    if (wait) {
      await wait;
      // A second Enter meanwhile must not begin another conversation.
      if (box.current?.value !== text) return;
    }
    const prompt = commands.promptIn(text);
    if (!prompt && commands.act(text)) return setText("");
    const said = { text, files: files.all };
    const open = opening();
    keepBeginning(said);
    const message = messageParts(text, prompt, files);
    setBeginning(messageInWords(message));
    // The next key begins the next message.
    setText("");
    files.clear();
    const begun = begin(message).finally(() => keepBeginning(undefined));
    begun.catch(() => restoreDraft(FIRST_PAGE, said));
    await begun.then(open).finally(() => setBeginning(undefined));
  };
  return (
    <section aria-label={t("Your message")} className="flex w-full flex-col gap-2">
      {beginning !== undefined && (
        <p role="status" className="flex items-baseline gap-2 rounded border border-hair px-2 py-1 text-sm">
          <span className="text-soft text-xs">{t("sending")}</span>
          <span className="min-w-0 flex-1 truncate">{beginning}</span>
        </p>
      )}
      <MessageBox
        box={box}
        text={text}
        files={files}
        commands={commands}
        isFocused
        placeholder={t("Describe a task or ask a question")}
        onChange={setText}
        onEnter={() => page.told(send())}
        choices={
          <>
            <ModelChoice model={model} onChoose={setModel} />
            <ModeChoice mode={mode} onChange={setMode} />
            {hasWorktrees && <FilesChoice isApart={isApart} onChange={setApart} />}
            <PresetChoice
              onChoose={(preset) => {
                setModel(preset.model);
                setMode(preset.mode);
              }}
            />
          </>
        }
        ways={
          <IconButton
            isRound
            name={t("Send")}
            icon="send"
            look="main"
            disabled={beginning !== undefined}
            onClick={() => page.told(send())}
          />
        }
        notice={phase === "open" ? "" : t("Not connected yet")}
      />
      {mayNameFiles && (
        <Examples
          onChoose={(example) => {
            setText(example);
            box.current?.focus();
          }}
        />
      )}
    </section>
  );
}
