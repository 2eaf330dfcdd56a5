import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useConversation, useTree } from "../conversation/use-conversation.ts";
import { usePage, usePageState } from "../page.ts";
import { useDraft } from "./use-draft.ts";
import { WaitingList } from "./waiting-list.tsx";

/** Where a person writes. It is never switched off: what is written while the agent works steers it, or waits (W36). */
export function Composer({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  const { connection } = usePage();
  const phase = usePageState((state) => state.connection.phase);
  const tree = useTree();
  const navigate = useNavigate();
  const [text, setText] = useDraft(conversation.id);
  const [problem, setProblem] = useState<string>();
  if (!tree) return null;
  const run = [...tree.runs.values()].find(
    (live) => live.call === undefined && (live.leaf === leaf || leaf === tree.leaf),
  );
  const goesOnHere = leaf === tree.leaf;
  const send = async (delivery: "steer" | "queue") => {
    if (text.trim() === "") return;
    setText("");
    setProblem(undefined);
    const at = leaf === null || (goesOnHere && run) ? {} : { at: leaf };
    const to = run ? { run: run.id, delivery } : {};
    try {
      await connection.ask("turn.say", {
        conversation: conversation.id,
        parts: [{ type: "text", text }],
        ...at,
        ...to,
      });
      // Where the answer comes is what people want to see.
      if (!goesOnHere)
        await navigate({ to: "/c/$conversation", params: { conversation: conversation.id }, search: {} });
    } catch (error) {
      setText(text);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const stop = () =>
    connection.ask("run.interrupt", { conversation: conversation.id, ...(run ? { run: run.id } : {}) });
  return (
    <div className="border-hair border-t bg-ground px-4 py-3">
      <div className="mx-auto flex max-w-3xl flex-col gap-2">
        <WaitingList run={run?.id} />
        {conversation.interrupted > 0 && (
          <p className="flex flex-wrap items-center gap-2 text-sm text-warn">
            The process stopped in the middle of this conversation.
            <Action onClick={() => void connection.ask("turn.resume", { conversation: conversation.id })}>Go on</Action>
          </p>
        )}
        {problem !== undefined && (
          <p role="alert" className="text-bad text-sm">
            {problem}
          </p>
        )}
        <textarea
          id="composer"
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void send(event.altKey ? "queue" : "steer");
          }}
          rows={Math.min(12, text.split("\n").length + 1)}
          placeholder={run ? "Write to the agent while it works" : "Write to the agent"}
          aria-label="Message"
          className="w-full resize-none rounded-md border border-line bg-raised px-3 py-2"
        />
        <div className="flex flex-wrap items-center gap-2 text-sm">
          {run ? (
            <>
              <Action isMain onClick={() => void send("steer")}>
                Steer
              </Action>
              <Action onClick={() => void send("queue")}>Queue</Action>
              <Action onClick={() => void stop()}>Stop</Action>
            </>
          ) : (
            <Action isMain onClick={() => void send("steer")}>
              Send
            </Action>
          )}
          <span className="text-soft text-xs">
            {phase === "open"
              ? run
                ? "Enter steers after the current tool, Alt+Enter waits until the end"
                : "Enter sends, Shift+Enter makes a new line"
              : "Not connected: what you send goes out when the connection is back"}
          </span>
        </div>
      </div>
    </div>
  );
}

function Action({
  children,
  onClick,
  isMain = false,
}: {
  readonly children: React.ReactNode;
  readonly onClick: () => void;
  readonly isMain?: boolean;
}) {
  const look = isMain ? "bg-leaf text-ground border-leaf" : "border-line hover:bg-sunken";
  return (
    <button type="button" onClick={onClick} className={`rounded-md border px-3 py-1 ${look}`}>
      {children}
    </button>
  );
}
