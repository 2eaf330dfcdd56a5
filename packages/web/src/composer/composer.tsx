import {
  type ConversationState,
  createId,
  isUserMessage,
  pathTo,
  typedText,
  worktreeAt,
} from "@banyan/core/conversation";
import { errorMessage, visibleLine } from "@banyan/core/shown";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { type UnsentMessage, writtenIn } from "../parts/connection/unsent-message.ts";
import { openRuns } from "../parts/conversation/live-conversation.ts";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useShow } from "../parts/conversation/use-view.ts";
import { Button, IconButton } from "../parts/design/button.tsx";
import { ErrorText } from "../parts/design/notice.tsx";
import { useActions } from "../parts/page/actions.tsx";
import { usePage, usePageState } from "../parts/page/page.ts";
import { usePreference } from "../parts/page/preferences.ts";
import { useMay } from "../parts/page/use-may.ts";
import { say as inWords, t } from "../parts/phrases/phrases.ts";
import { QuestionView } from "../transcript/approval.tsx";
import { attachmentFrom, messageInWords, useAttachments } from "../transcript/attachments.ts";
import { useSlashCommands } from "./commands.ts";
import { restoreDraft, useDraft } from "./draft.ts";
import { GoalList } from "./goal-list.tsx";
import { MessageBox } from "./message-box.tsx";
import { ModeChoice, ModelChoice, PresetChoice } from "./model-choice.tsx";
import type { TurnMode } from "./own.ts";
import { ProcessList } from "./process-list.tsx";
import { messageParts } from "./server-prompts.ts";
import { TurnWait, useTurnWait } from "./turn-wait.tsx";
import { UnsentList } from "./unsent-list.tsx";
import { WaitingList } from "./waiting-list.tsx";

/** The message box. It is never disabled: a message during a turn steers the agent or waits (W36). */
export function Composer({ leaf }: { readonly leaf: string | null }) {
  const tree = useTree();
  const may = useMay();
  if (!may("turn.say")) return <Watching />;
  return tree ? <Writing tree={tree} leaf={leaf} /> : null;
}

function Writing({ tree, leaf }: { readonly tree: ConversationState; readonly leaf: string | null }) {
  const conversation = useConversation();
  const page = usePage();
  const { connection } = page;
  const phase = usePageState((state) => state.connection.phase);
  const [text, setText] = useDraft(conversation.id, "text");
  const [preferred] = usePreference("delivery");
  const [problem, setProblem] = useState<string>();
  const box = useRef<HTMLTextAreaElement>(null);
  const files = useAttachments(tree.model, useDraft(conversation.id, "files"));
  const [mode, setMode] = useState<TurnMode>("chat");
  // After a log failure, nothing runs any more, whatever the state says.
  const isBroken = conversation.standing === "broken";
  const run = isBroken ? undefined : openRuns(tree).find((run) => run.leaf === leaf);
  const limit = [...(tree?.questions.values() ?? [])].find((open) => open.type === "limit" && open.run === run?.id);
  const waiting = useTurnWait();
  const worktree = worktreeAt(tree, leaf);
  const showSaid = useOwnInView(tree, leaf);
  const history = useHistory(
    () => pathTo(tree, leaf).flatMap((said) => (isUserMessage(said) ? [typedText(said)] : [])),
    setText,
  );
  const change = (changed: string) => {
    history.reset();
    setText(changed);
  };
  const report = (promise: Promise<unknown>) => {
    setProblem(undefined);
    promise.catch((error: unknown) => setProblem(errorMessage(error)));
  };
  const comesBack = (said: Pick<UnsentMessage, "parts" | "prompt" | "argument">) => {
    const { text, rest } = writtenIn(said);
    restoreDraft(conversation.id, { text, files: rest.map(attachmentFrom) });
  };
  const refused = usePageState((state) => state.refused.find((said) => said.conversation === conversation.id));
  useEffect(() => {
    if (!refused || !page.giveBack(refused)) return;
    comesBack(refused);
    setProblem(refused.reason);
  });
  const stop = async () => {
    const waiting = tree.inbox.filter((input) => input.run === run?.id);
    await connection.ask("run.interrupt", { conversation: conversation.id, ...(run ? { run: run.id } : {}) });
    const notTakenBack: string[] = [];
    // Undelivered messages return to the message box (W38), each as soon as it is withdrawn.
    for (const { id, parts } of waiting.toReversed()) {
      try {
        await connection.ask("input.withdraw", { conversation: conversation.id, input: id });
        comesBack({ parts });
      } catch {
        notTakenBack.unshift(whereIs(id, messageExcerpt(messageInWords({ parts })), conversation.state ?? tree));
      }
    }
    box.current?.focus();
    if (notTakenBack.length > 0) setProblem(notTakenBack.join(" "));
  };
  const commands = useSlashCommands(text);
  useActions([
    {
      name: t("Switch between chat and task mode"),
      slash: "mode",
      async run(argument = "") {
        const { readMode } = await import("@banyan/client/actions");
        const wanted = readMode(argument, inWords) ?? mode;
        setMode(wanted);
        return MODES[wanted];
      },
    },
    ...(run ? [{ name: t("Stop this branch"), slash: "stop", takes: "run.interrupt", run: stop } as const] : []),
  ]);
  const send = (delivery: "steer" | "queue"): void => {
    const said = text;
    if (said.trim() === "" && files.all.length === 0) return;
    const wait = commands.wait(said);
    // A second Enter meanwhile must not send twice.
    if (wait) return report(wait.then(() => box.current?.value === said && send(delivery)));
    const prompt = commands.promptIn(said);
    try {
      if (!prompt && commands.act(said)) return change("");
    } catch (error) {
      // The text stays, for correction.
      return setProblem(errorMessage(error));
    }
    change("");
    files.clear();
    const unsent = {
      id: createId(),
      conversation: conversation.id,
      ...messageParts(said, prompt, files),
      // After a log failure, the last messages may be missing when the conversation opens again.
      ...(leaf === null || isBroken ? {} : { at: leaf }),
      ...(run ? { run: run.id, delivery } : mode === "task" ? { mode } : {}),
    };
    const saying = page.say(unsent).then(showSaid, (error: unknown) => {
      comesBack(unsent);
      throw error;
    });
    report(isBroken ? saying.then(() => conversation.again()) : saying);
  };
  const other = preferred === "steer" ? "queue" : "steer";
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === "ArrowUp" && (text === "" || history.isRecalling)) {
      if (history.older()) event.preventDefault();
    } else if (event.key === "ArrowDown" && history.isRecalling && history.newer()) event.preventDefault();
  };
  return (
    <section aria-label={t("Your message")} className="bg-ground pb-2">
      <div className="mx-auto flex max-w-text flex-col gap-2 px-4">
        <UnsentList waiting={waiting?.command} />
        <TurnWait waiting={waiting} />
        <WaitingList run={run?.id} />
        <GoalList leaf={leaf} />
        <ProcessList />
        <LeftOpen
          leaf={leaf}
          goOn={(at) => report(connection.ask("turn.resume", { conversation: conversation.id, at }))}
        />
        {limit && <QuestionView conversation={conversation.id} question={limit} call={undefined} />}
        <ErrorText className="text-sm">{problem}</ErrorText>
        <MessageBox
          box={box}
          text={text}
          files={files}
          commands={commands}
          isFocused
          placeholder={run ? t("Write to the agent while it works") : t("Write to the agent")}
          onChange={change}
          onKeyDown={onKeyDown}
          onEnter={({ isOther }) => send(isOther ? other : preferred)}
          choices={
            <>
              <ModelChoice conversation={conversation.id} model={tree.model} />
              {worktree !== undefined && (
                <span className="truncate text-soft text-xs">
                  {t("Worktree {name}", { name: visibleLine(worktree) })}
                </span>
              )}
              {!run && <ModeChoice mode={mode} onChange={setMode} />}
              {!run && (
                <PresetChoice
                  onChoose={(preset) => {
                    setMode(preset.mode);
                    report(connection.ask("model.use", { model: preset.model, conversation: conversation.id }));
                  }}
                />
              )}
            </>
          }
          ways={
            run ? (
              <>
                {/* Stop must not be where Send appears when the run ends: a late click would send (W54). */}
                <IconButton isRound name={t("Stop")} icon="stop" look="plain" onClick={() => report(stop())} />
                <Button look={preferred === "steer" ? "main" : "plain"} onClick={() => send("steer")}>
                  {t("Send now")}
                </Button>
                <Button look={preferred === "queue" ? "main" : "plain"} onClick={() => send("queue")}>
                  {t("Queue")}
                </Button>
              </>
            ) : (
              <IconButton isRound name={t("Send")} icon="send" look="main" onClick={() => send("steer")} />
            )
          }
          keys={run && KEYS[preferred]}
          notice={phase === "open" ? "" : t("Not connected. Messages are sent when the connection is back.")}
        />
      </div>
    </section>
  );
}

/**
 * Returns a function that shows the user's message when it arrives. Another client's message may come first below the
 * same parent: the view then follows that one, and the user's own is a sibling branch.
 */
function useOwnInView(tree: ConversationState, leaf: string | null): (message: string) => void {
  const show = useShow();
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    const parent = said === undefined ? undefined : tree.messages.get(said)?.parentId;
    if (said === undefined || parent === undefined) return;
    setSaid(undefined);
    const inView = pathTo(tree, leaf).map(({ id }) => id);
    // A user who has moved to another branch stays there.
    if (!inView.includes(said) && parent !== null && inView.includes(parent)) show(said);
  }, [said, tree, leaf, show]);
  return setSaid;
}

const KEYS = {
  steer: t("Enter sends now, Alt+Enter sends after this turn"),
  queue: t("Enter sends after this turn, Alt+Enter sends now"),
} as const;

const MODES = {
  chat: t("Chat mode: the agent answers, then waits for you."),
  task: t("Task mode: the agent works until the task is done."),
} as const;

function messageExcerpt(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40).trimEnd()} …` : text;
}

function whereIs(input: string, words: string, { messages, inbox }: ConversationState): string {
  if (messages.has(input)) return t("“{words}” was already delivered.", { words });
  return inbox.some(({ id }) => id === input)
    ? t("“{words}” could not be taken back. It is still waiting.", { words })
    : t("“{words}” was already taken back.", { words });
}

function LeftOpen({ leaf, goOn }: { readonly leaf: string | null; readonly goOn: (at: string) => void }) {
  const { leftOpen } = useConversation();
  const show = useShow();
  const [end] = leftOpen;
  if (end === undefined) return null;
  const isHere = leaf !== null && leftOpen.includes(leaf);
  return (
    <p className="flex flex-wrap items-center gap-2 text-sm text-warn">
      {isHere
        ? t("The process stopped while this branch was running.")
        : t("The process stopped while another branch was running.")}
      {isHere ? (
        <Button isSmall onClick={() => goOn(leaf)}>
          {t("Continue")}
        </Button>
      ) : (
        <Button isSmall onClick={() => show(end)}>
          {t("Show")}
        </Button>
      )}
    </p>
  );
}

function Watching() {
  return (
    <section aria-label={t("View only")} className="bg-ground pb-2">
      <div className="mx-auto flex max-w-text flex-col gap-2 px-4 text-soft text-sm">
        <TurnWait waiting={useTurnWait()} />
        <WaitingList run={undefined} />
        <p>{t("View only: you can't send messages or answer questions here.")}</p>
      </div>
    </section>
  );
}

export interface MessageHistory {
  readonly isRecalling: boolean;
  older(): boolean;
  newer(): boolean;
  reset(): void;
}

function useHistory(said: () => readonly string[], recall: (text: string) => void): MessageHistory {
  const back = useRef(0);
  const go = (to: number) => {
    const text = to === 0 ? "" : said().at(-to);
    if (text === undefined) return false;
    back.current = to;
    recall(text);
    return true;
  };
  return {
    get isRecalling() {
      return back.current > 0;
    },
    older: () => go(back.current + 1),
    newer: () => back.current > 0 && go(back.current - 1),
    reset() {
      back.current = 0;
    },
  };
}
