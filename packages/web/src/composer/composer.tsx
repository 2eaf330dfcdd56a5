import {
  type ConversationState,
  createId,
  type LiveRun,
  pathTo,
  typedText,
  type UserPart,
} from "@banyan/core/conversation";
import { type Dispatch, type KeyboardEvent, type SetStateAction, useEffect, useRef, useState } from "react";
import { useConversation, useTree } from "../conversation/use-conversation.ts";
import { useShow } from "../conversation/use-view.ts";
import { usePage, usePageState } from "../page.ts";
import { keep, kept } from "../shell/kept.ts";
import { usePreference } from "../shell/preferences.ts";
import { Approval } from "../transcript/approval.tsx";
import { useMay } from "../use-may.ts";
import { Action } from "./action.tsx";
import { useCommands } from "./commands.ts";
import { Completion } from "./completion.tsx";
import { TurnWait, useTurnWait } from "./turn-wait.tsx";
import { UnsentList } from "./unsent-list.tsx";
import { WaitingList } from "./waiting-list.tsx";

/** Where a person writes. It is never switched off: what is written while the agent works steers it, or waits (W36). */
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
  const [text, setText] = useDraft(conversation.id);
  const [preferred, setPreferred] = usePreference("delivery");
  const [problem, setProblem] = useState<string>();
  const box = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState(0);
  // Of one whose log failed nothing runs any more, whatever it said last.
  const isBroken = conversation.standing === "broken";
  const run = isBroken ? undefined : runAt(tree, leaf);
  const limit = [...(tree?.questions.values() ?? [])].find((open) => open.type === "limit" && open.run === run?.id);
  const waiting = useTurnWait();
  const history = useHistory(
    () =>
      pathTo(tree, leaf).flatMap((said) => (said.role === "user" && said.author === "user" ? [typedText(said)] : [])),
    setText,
  );
  const change = (changed: string) => {
    history.reset();
    setText(changed);
  };
  const told = (promise: Promise<unknown>) => {
    setProblem(undefined);
    promise.catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  };
  /** Before what has been written meanwhile. */
  const giveBack = (said: string) => setText((draft) => [said, draft].filter((piece) => piece !== "").join("\n\n"));
  const refused = usePageState((state) => state.refused.find((said) => said.conversation === conversation.id));
  useEffect(() => {
    if (!refused || !page.giveBack(refused)) return;
    giveBack(wordsOf(refused.parts));
    setProblem(refused.reason);
  });
  const stop = async () => {
    const waiting = tree.inbox.filter((input) => input.run === run?.id);
    await connection.ask("run.interrupt", { conversation: conversation.id, ...(run ? { run: run.id } : {}) });
    const notTakenBack: string[] = [];
    // What was not delivered comes back to where it was written (W38), each as soon as it is taken back.
    for (const { id, parts } of waiting.toReversed()) {
      try {
        await connection.ask("input.withdraw", { conversation: conversation.id, input: id });
        giveBack(wordsOf(parts));
      } catch {
        notTakenBack.unshift(`“${excerpt(wordsOf(parts))}” ${whereIs(id, conversation.state ?? tree)}`);
      }
    }
    box.current?.focus();
    if (notTakenBack.length > 0) setProblem(notTakenBack.join(" "));
  };
  const commands = useCommands({ leaf, run, stop });
  const send = (delivery: "steer" | "queue") => {
    const said = text;
    if (said.trim() === "") return;
    setText("");
    history.reset();
    const command = commands.find(({ name }) => name === said.trim());
    if (command) return told(Promise.resolve(command.act()));
    const unsent = {
      id: createId(),
      conversation: conversation.id,
      parts: [{ type: "text", text: said } as const],
      // What was on its way when its log failed may not be there when it is opened anew.
      ...(leaf === null || isBroken ? {} : { at: leaf }),
      ...(run ? { run: run.id, delivery } : {}),
    };
    const saying = page.say(unsent).catch((error: unknown) => {
      giveBack(said);
      throw error;
    });
    told(isBroken ? saying.then(() => conversation.again()) : saying);
  };
  const other = preferred === "steer" ? "queue" : "steer";
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send(event.altKey ? other : preferred);
    } else if (event.key === "ArrowUp" && (text === "" || history.isRecalling)) {
      if (history.older()) event.preventDefault();
    } else if (event.key === "ArrowDown" && history.isRecalling && history.newer()) event.preventDefault();
  };
  return (
    <section aria-label="Your message" className="border-hair border-t bg-ground py-3">
      <div className="mx-auto flex max-w-3xl flex-col gap-2 px-4">
        <UnsentList waiting={waiting?.command} />
        <TurnWait waiting={waiting} />
        <WaitingList run={run?.id} />
        <LeftOpen
          leaf={leaf}
          goOn={(at) => told(connection.ask("turn.resume", { conversation: conversation.id, at }))}
        />
        {limit && <Approval conversation={conversation.id} question={limit} call={undefined} directory={undefined} />}
        {problem !== undefined && (
          <p role="alert" className="text-bad text-sm">
            {problem}
          </p>
        )}
        <Completion commands={commands} text={text} caret={caret} onChange={change} box={box} />
        <div className="rounded-xl border border-line bg-raised has-[textarea:focus-visible]:outline-2 has-[textarea:focus-visible]:outline-leaf">
          <textarea
            ref={box}
            id="composer"
            // biome-ignore lint/a11y/noAutofocus: in a conversation in which nothing was said there is nothing else to do.
            autoFocus={leaf === null}
            value={text}
            onChange={({ target }) => {
              setCaret(target.selectionEnd);
              change(target.value);
            }}
            onSelect={({ currentTarget }) => setCaret(currentTarget.selectionEnd)}
            onKeyDown={onKeyDown}
            rows={Math.min(10, Math.max(2, text.split("\n").length))}
            placeholder={run ? "Write to the agent while it works" : "Write to the agent"}
            aria-label="Message"
            aria-describedby="composer-keys"
            // As high as its text, where the browser can do that; by its line breaks otherwise.
            className="field-sizing-content block max-h-62.5 min-h-14.5 w-full resize-none bg-transparent px-3.5 pt-2.5 text-[0.9375rem] leading-6 outline-none placeholder:text-soft"
          />
          <div className="flex flex-wrap items-center gap-2 px-2.5 pb-2.5 text-sm">
            {run ? (
              <>
                <Action isMain={preferred === "steer"} onClick={() => send("steer")}>
                  Steer
                </Action>
                <Action isMain={preferred === "queue"} onClick={() => send("queue")}>
                  Queue
                </Action>
                <Action onClick={() => told(stop())}>Stop</Action>
                <label className="flex items-center gap-1 text-soft text-xs">
                  Enter
                  <select
                    value={preferred}
                    onChange={({ target }) => setPreferred(target.value as typeof preferred)}
                    className="min-h-6 rounded border border-line bg-ground px-1 text-ink"
                  >
                    <option value="steer">steers</option>
                    <option value="queue">queues</option>
                  </select>
                </label>
              </>
            ) : (
              <Action isMain onClick={() => send("steer")}>
                Send
              </Action>
            )}
            <span id="composer-keys" className="text-soft text-xs max-sm:sr-only">
              {phase === "open"
                ? run
                  ? KEYS[preferred]
                  : "Enter sends, Shift+Enter makes a new line"
                : "Not connected: what you send goes out when the connection is back"}
            </span>
          </div>
        </div>
      </div>
    </section>
  );
}

const KEYS = {
  steer: "Enter steers after the current tool, Alt+Enter waits until the end",
  queue: "Enter waits until the end, Alt+Enter steers after the current tool",
} as const;

function wordsOf(parts: readonly UserPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** As much of a text as tells it from others. */
function excerpt(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40).trimEnd()} …` : text;
}

/** What became of an input that could not be taken back. */
function whereIs(input: string, { messages, inbox }: ConversationState): string {
  if (messages.has(input)) return "had been delivered: it is among the messages.";
  return inbox.some(({ id }) => id === input)
    ? "could not be taken back: it still waits."
    : "was taken back elsewhere.";
}

/** The live run on the branch in view, if any: in a sub-agent's conversation, the sub-agent's. */
function runAt(tree: ConversationState, leaf: string | null): LiveRun | undefined {
  return [...tree.runs.values()].find((run) => run.leaf === leaf);
}

/** What a person has begun to write in a conversation; it is there again after a reload (W43). */
function useDraft(conversation: string): readonly [string, Dispatch<SetStateAction<string>>] {
  const key = `draft ${conversation}`;
  const [text, setText] = useState(() => String(kept(key) ?? ""));
  useEffect(() => keep(key, text || undefined), [key, text]);
  return [text, setText];
}

/** Says that a process stopped in the middle of the branch in view, or of another one, and leads on from there. */
function LeftOpen({ leaf, goOn }: { readonly leaf: string | null; readonly goOn: (at: string) => void }) {
  const { leftOpen } = useConversation();
  const show = useShow();
  const [end] = leftOpen;
  if (end === undefined) return null;
  const isHere = leaf !== null && leftOpen.includes(leaf);
  return (
    <p className="flex flex-wrap items-center gap-2 text-sm text-warn">
      The process stopped in the middle of {isHere ? "this" : "another"} branch.
      {isHere ? <Action onClick={() => goOn(leaf)}>Go on</Action> : <Action onClick={() => show(end)}>Show it</Action>}
    </p>
  );
}

/** What stands where one would write, for whoever may only watch. */
function Watching() {
  return (
    <section aria-label="You are watching" className="border-hair border-t bg-ground py-3">
      <div className="mx-auto flex max-w-3xl flex-col gap-2 px-4 text-soft text-sm">
        <TurnWait waiting={useTurnWait()} />
        <WaitingList run={undefined} />
        <p>You are watching: you see what happens here, and others write and decide.</p>
      </div>
    </section>
  );
}

/** Walks through what a person said before, the newest first (W43). */
export interface SaidBefore {
  readonly isRecalling: boolean;
  /** Recalls the one before; false when there is none. */
  older(): boolean;
  /** Recalls the one after it, or nothing behind the newest. */
  newer(): boolean;
  reset(): void;
}

/** What was said before on a branch, put into the message box as it is recalled. */
function useHistory(said: () => readonly string[], recall: (text: string) => void): SaidBefore {
  // 0: nothing is recalled; 1: the newest.
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
