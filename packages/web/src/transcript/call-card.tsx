import { type Call, type CallStatus, isEnded } from "@banyan/core/conversation";
import { useEffect, useState } from "react";
import { useTree } from "../conversation/use-conversation.ts";
import { Approval } from "./approval.tsx";
import { SubAgentCard } from "./sub-agent-card.tsx";

/** A sign and a word for each status: never colour alone (W28). */
const STATUS: Readonly<Record<CallStatus, readonly [sign: string, word: string, colour: string]>> = {
  pending: ["○", "waiting", "text-soft"],
  "approval-requested": ["?", "waits for you", "text-warn"],
  executing: ["◐", "running", "text-leaf"],
  completed: ["✓", "done", "text-leaf"],
  failed: ["✗", "failed", "text-bad"],
  denied: ["⊘", "denied", "text-bad"],
  cancelled: ["–", "cancelled", "text-soft"],
};

/** Lines of a result that are shown at first. */
const SHOWN = 20;

/** A tool call: what it is, how it stands, what came of it, and, where it waits for a person, the question. */
export function CallCard({ call, message }: { readonly call: Call; readonly message: string }) {
  const tree = useTree();
  const [sign, word, colour] = STATUS[call.status];
  const question = [...(tree?.questions.values() ?? [])].find(
    (open) => open.call === call.id && open.message === message,
  );
  const launched = tree?.children.get(call.id)?.[0];
  return (
    <section aria-label={`Call of ${call.tool}`} className="my-2 rounded-md border border-hair text-sm">
      <details open={call.status === "failed"}>
        <summary className="flex flex-wrap items-baseline gap-2 px-3 py-1.5">
          <span className={colour}>
            <span aria-hidden="true">{sign} </span>
            {word}
          </span>
          <span className="font-medium">{call.tool}</span>
          <span className="min-w-0 flex-1 truncate text-soft">{argumentLine(call)}</span>
          <Elapsed call={call} />
        </summary>
        <Output text={call.output ?? call.progress} />
      </details>
      {launched !== undefined && <SubAgentCard call={call.id} root={launched} />}
      {question && <Approval question={question} call={call} />}
    </section>
  );
}

function Elapsed({ call: { startedAt, endedAt, status } }: { readonly call: Call }) {
  const [now, setNow] = useState(Date.now);
  const isRunning = status === "executing";
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  if (startedAt === undefined) return null;
  const seconds = Math.max(0, ((isEnded(status) ? (endedAt ?? startedAt) : now) - startedAt) / 1_000);
  return <span className="text-soft text-xs">{seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s</span>;
}

function Output({ text }: { readonly text: string }) {
  const [all, setAll] = useState(false);
  if (text === "") return null;
  const lines = text.split("\n");
  const shown = all ? text : lines.slice(0, SHOWN).join("\n").slice(0, 8_192);
  return (
    <div className="border-hair border-t px-3 py-2">
      <pre className="overflow-x-auto whitespace-pre-wrap font-mono text-xs">{shown}</pre>
      {shown.length < text.length && (
        <button type="button" onClick={() => setAll(true)} className="mt-1 text-leaf text-xs underline">
          Show all ({lines.length} lines)
        </button>
      )}
    </div>
  );
}

/** The main argument of a call, on one line. */
function argumentLine({ input, inputText }: Call): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return inputText.slice(0, 200);
  const values = Object.values(input).map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return values.join(" · ").replace(/\s+/g, " ").slice(0, 200);
}
