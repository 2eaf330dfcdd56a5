import { foldNeighbours, foldSentence, quietCall } from "@banyan/client/display";
import { formatDuration, problemsOfCall, shownStatus } from "@banyan/client/words";
import { type Call, isEnded, type Json, type PlanStep, toolNameOf } from "@banyan/core/conversation";
import { isJsonRecord, planHeadline, shownPlan, visibleText } from "@banyan/core/shown";
import { useEffect, useState } from "react";
import { useTree } from "../parts/conversation/use-conversation.ts";
import { Icon } from "../parts/design/icon.tsx";
import { CallChanges } from "../parts/diff/call-changes.tsx";
import { say, t, tCount } from "../parts/phrases/phrases.ts";
import { QuestionView } from "./approval.tsx";
import { useCallStatus } from "./call-status.ts";
import { SaidFile } from "./message-file.tsx";
import { NewProblems } from "./new-problems.tsx";
import { Output } from "./output.tsx";
import { ShownLines } from "./shown-lines.tsx";
import { SubAgentCard } from "./sub-agent-card.tsx";

/** Shows adjacent calls. Neighbours that only read and succeeded are folded into one line (W30). */
export function CallCards({ calls, message }: { readonly calls: readonly Call[]; readonly message: string }) {
  return foldNeighbours(calls, quietCall).map((group) =>
    group.length === 1 ? (
      group.map((call) => <CallCard key={call.id} call={call} message={message} />)
    ) : (
      <details key={group[0].id} className="group/fold my-1.5 rounded-lg border border-hair text-sm">
        <summary className="flex cursor-pointer items-center gap-2 rounded-lg px-3 py-1.5 hover:bg-raised">
          <span aria-hidden="true" className="text-leaf text-xs">
            ✓
          </span>
          <span className="min-w-0 [overflow-wrap:anywhere]">
            {foldSentence(
              group.flatMap((call) => quietCall(call) ?? []),
              say,
            )}
          </span>
          <span className="ms-auto text-soft group-open/fold:rotate-90 rtl:group-open/fold:-rotate-90">
            <Icon of="fold" />
          </span>
        </summary>
        <div className="px-3">
          {group.map((call) => (
            <CallCard key={call.id} call={call} message={message} />
          ))}
        </div>
      </details>
    ),
  );
}

/** A tool call: its tool, status, result and, if it waits for the user, its question. */
function CallCard({ call, message }: { readonly call: Call; readonly message: string }) {
  const tree = useTree();
  const question = [...(tree?.questions.values() ?? [])].find(
    (open) => open.type !== "limit" && open.call === call.id && open.message === message,
  );
  // A call that asks a question in words has the status "executing" but waits for the user.
  const [sign, word, colour] = useCallStatus()(call, question !== undefined);
  const launched = tree?.children.get(call.id)?.[0];
  return (
    <section
      aria-label={t("Call of {tool}", { tool: toolNameOf(call) })}
      className="my-1.5 overflow-hidden rounded-lg border border-hair text-sm"
    >
      <details className="group/call peer" open={OPEN.has(shownStatus(call)) || call.executedInput !== undefined}>
        <summary className="flex cursor-pointer items-center gap-2 px-3 py-1.5 hover:bg-raised">
          <span className={`whitespace-nowrap text-xs ${colour}`}>
            <span aria-hidden="true">{sign} </span>
            {word}
          </span>
          <span className="font-medium">{toolNameOf(call)}</span>
          <span className={`min-w-0 flex-1 font-mono text-soft text-xs ${question ? WHOLE : "truncate"}`}>
            {question ? visibleText(argumentLine(call, Number.POSITIVE_INFINITY)) : argumentLine(call)}
          </span>
          {call.changedFiles !== undefined && (
            <span className="text-soft text-xs">
              {tCount(call.changedFiles, "{count} file changed", "{count} files changed")}
            </span>
          )}
          <Elapsed call={call} />
          <span className="text-soft group-open/call:rotate-90 rtl:group-open/call:-rotate-90">
            <Icon of="fold" />
          </span>
        </summary>
        <Arguments call={call} />
        <Output text={call.output ?? call.progress} />
      </details>
      {/* The question shows the plan's steps itself. */}
      {call.about?.plan && !question && <Plan plan={call.about.plan} />}
      <Files call={call} />
      <LastLines call={call} />
      <CallChanges call={call} />
      <NewProblems lines={problemsOfCall(call)} />
      {launched !== undefined && (
        <SubAgentCard call={call.id} root={launched} task={argumentLine(call)} status={word} />
      )}
      {question && tree && <QuestionView conversation={tree.id} question={question} call={call} />}
    </section>
  );
}

/** The statuses of calls whose result a user should see at once. */
const OPEN: ReadonlySet<string> = new Set(["failed", "not-run", "denied"]);

/** The style of arguments above a question: complete, over any number of lines (S36). */
const WHOLE = "whitespace-pre-wrap [overflow-wrap:anywhere]";

function Plan({ plan }: { readonly plan: readonly PlanStep[] }) {
  return (
    <details open className="border-hair border-t px-3 py-1.5 text-xs">
      <summary className="cursor-pointer text-soft">
        {t("Plan: {headline}", { headline: planHeadline(plan, say) })}
      </summary>
      <ul aria-label={t("Plan")} className="mt-1 flex flex-col gap-0.5">
        {shownPlan(plan).map(({ mark, text, status }, index) => (
          <li key={index} className={PLAN_LOOKS[status ?? "pending"]}>
            <span className="font-mono">{mark}</span> {text}
          </li>
        ))}
      </ul>
    </details>
  );
}

export const PLAN_LOOKS: Readonly<Record<PlanStep["status"], string>> = {
  completed: "text-soft",
  in_progress: "font-semibold",
  pending: "",
};

function Files({ call: { files = [] } }: { readonly call: Call }) {
  if (files.length === 0) return null;
  return (
    <div className="border-hair border-t px-3 py-1.5">
      {files.map((file, index) => (
        <SaidFile key={index} file={file} />
      ))}
    </div>
  );
}

const LAST_LINES = 3;
const MOST = 1_000;

function LastLines({ call: { status, progress = "" } }: { readonly call: Call }) {
  if (status !== "executing" || progress.trim() === "") return null;
  const lines = progress.slice(-MOST).trimEnd().split("\n").slice(-LAST_LINES);
  return (
    <pre className="whitespace-pre-wrap px-3 pb-2 font-mono text-soft text-xs [overflow-wrap:anywhere] peer-open:hidden">
      {visibleText(lines.join("\n"))}
    </pre>
  );
}

/** Milliseconds from which the time of an ended call is shown. */
const SHOWN_TIME = 1_000;

function Elapsed({ call: { startedAt, endedAt, status } }: { readonly call: Call }) {
  const [now, setNow] = useState(Date.now);
  const isRunning = status === "executing";
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  if (startedAt === undefined) return null;
  const elapsed = (isEnded(status) ? (endedAt ?? startedAt) : now) - startedAt;
  if (isEnded(status) && elapsed < SHOWN_TIME) return null;
  return <span className="whitespace-nowrap text-soft text-xs">{formatDuration(elapsed)}</span>;
}

/** The model's arguments, and the user's edit if there is one (W33): as lines, never as JSON. */
function Arguments({ call }: { readonly call: Call }) {
  const { input, inputText, executedInput } = call;
  if (input === undefined ? inputText === "" : JSON.stringify(input) === "{}") return null;
  return (
    <dl className="border-hair border-t px-3 py-2 text-xs">
      <dt className="mb-1 text-soft">{executedInput === undefined ? t("Arguments") : t("Proposed")}</dt>
      <dd>
        <ShownLines call={call} name={t("Arguments")} />
      </dd>
      {executedInput !== undefined && (
        <>
          <dt className="mt-2 mb-1 text-soft">{t("Executed")}</dt>
          <dd>
            <ShownLines call={call} input={executedInput} name={t("Executed arguments")} />
          </dd>
        </>
      )}
    </dl>
  );
}

function argumentLine({ input: asked, executedInput, inputText, about }: Call, most = 200): string {
  // The steps are shown below.
  if (about?.plan) return "";
  const input = executedInput ?? asked;
  if (!isJsonRecord<Readonly<Record<string, Json>>>(input)) return inputText.slice(0, most);
  return Object.values(input)
    .map(onALine)
    .filter((value) => value !== "")
    .join(" · ")
    .replace(/\s+/g, " ")
    .slice(0, most);
}

function onALine(value: Json): string {
  if (Array.isArray(value))
    return value
      .map(onALine)
      .filter((each) => each !== "")
      .join(", ");
  return typeof value === "object" ? "" : String(value);
}
