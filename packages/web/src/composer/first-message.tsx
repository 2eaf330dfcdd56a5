import { createId } from "@banyan/core/conversation";
import { type KeyboardEvent, useRef, useState } from "react";
import { IconButton } from "../design/button.tsx";
import { usePage, usePageState } from "../page.ts";
import { t } from "../phrases/phrases.ts";
import { go } from "../shell/navigation.tsx";
import { useAttachments } from "./attachments.ts";
import { type AskedPrompt, saidWith } from "./brought.ts";
import { useSlashCommands } from "./commands.ts";
import { Examples } from "./examples.tsx";
import { MessageBox } from "./message-box.tsx";
import { FilesChoice, type Mode, ModeChoice, ModelChoice, PresetChoice, useWorktrees } from "./model-choice.tsx";

/** Where a conversation begins with what is said first (W63). */
export function FirstMessage() {
  const page = usePage();
  const { connection } = page;
  const phase = usePageState((state) => state.connection.phase);
  const [text, setText] = useState("");
  const [model, setModel] = useState<string>();
  const [mode, setMode] = useState<Mode>("chat");
  const [isApart, setApart] = useState(false);
  const hasWorktrees = useWorktrees();
  const files = useAttachments(model);
  const [isBeginning, setBeginning] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const commands = useSlashCommands(text);
  const begin = async (asked: AskedPrompt | undefined) => {
    const said = saidWith(text, asked, files);
    const { conversation } = await connection.ask("conversation.create", {});
    const prepared = async () => {
      if (model !== undefined) await connection.ask("model.use", { model, conversation });
      return hasWorktrees && isApart ? await connection.ask("worktree.open", { conversation }) : undefined;
    };
    // What was written stays here when something is refused: of the conversation nothing is to be left.
    const place = await prepared().catch(async (error: unknown) => {
      await connection.ask("conversation.remove", { conversation }).catch(() => {});
      throw error;
    });
    // From here on it is kept as any message is, and shown where it belongs.
    page.sayFrom({
      id: createId(),
      conversation,
      ...said,
      ...(mode === "task" && { mode }),
      ...(place && { at: place.message }),
    });
    go({ conversation });
  };
  const send = () => {
    if (isBeginning || (text.trim() === "" && files.all.length === 0)) return;
    const asked = commands.promptIn(text);
    try {
      if (!asked && commands.act(text)) return setText("");
    } catch (error) {
      return page.told(Promise.reject(error));
    }
    setBeginning(true);
    page.told(begin(asked).finally(() => setBeginning(false)));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing || event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    send();
  };
  return (
    <section aria-label={t("Your message")} className="flex w-full flex-col gap-2">
      <MessageBox
        box={box}
        text={text}
        files={files}
        commands={commands}
        isFocused
        placeholder={t("What shall be done?")}
        onChange={setText}
        onKeyDown={onKeyDown}
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
        ways={<IconButton isRound name={t("Send")} icon="send" look="main" disabled={isBeginning} onClick={send} />}
        hint={phase === "open" ? t("Enter sends, Shift+Enter makes a new line") : t("Not connected yet")}
      />
      <Examples
        onChoose={(example) => {
          setText(example);
          box.current?.focus();
        }}
      />
    </section>
  );
}
