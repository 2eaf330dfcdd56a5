import { argumentsText, type CallText, questionText, thingText } from "@banyan/client/words";
import {
  type Call,
  type Json,
  type OpenQuestion,
  type Preview,
  type QuestionField,
  type TextQuestion,
  toolNameOf,
} from "@banyan/core/conversation";
import { errorMessage, visibleLine, visibleText } from "@banyan/core/shown";
import { type Command, offersSandbox } from "@banyan/protocol";
import { useId, useRef, useState } from "react";
import { focusOn, takesFocus } from "../parts/browser/focus-on.ts";
import { keysInWords, keysOf } from "../parts/browser/keys.ts";
import { Button } from "../parts/design/button.tsx";
import { TextArea, TextField } from "../parts/design/field.tsx";
import { usePage, usePageState } from "../parts/page/page.ts";
import { useMay } from "../parts/page/use-may.ts";
import { tParts } from "../parts/phrases/parts.tsx";
import { say, t } from "../parts/phrases/phrases.ts";
import { QuestionForm } from "./question-form.tsx";
import { ShownLines } from "./shown-lines.tsx";

interface QuestionProps<Question extends OpenQuestion = OpenQuestion> {
  readonly conversation: string;
  readonly question: Question;
}

/** A question to the user: the approval of a call, a question in words, or a turn at a limit (W32, W33, B64). */
export function QuestionView({ question, call, ...asked }: QuestionProps & { readonly call: Call | undefined }) {
  const may = useMay();
  if (!may("question.answer"))
    return (
      <p className="whitespace-pre-wrap border-hair border-t bg-warn-ground/50 px-3 py-3 text-sm">
        {waitsFor(question)}
      </p>
    );
  switch (question.type) {
    case "approval":
      return call && <Permission question={question} call={call} {...asked} />;
    case "text":
      return question.fields ? (
        <InFields question={question} fields={question.fields} {...asked} />
      ) : (
        <InWords question={question} {...asked} />
      );
    case "limit":
      return <GoesOn question={question} {...asked} />;
  }
}

function waitsFor(question: OpenQuestion): string {
  switch (question.type) {
    case "approval":
      return t("Waiting for approval.");
    case "text":
      return `${visibleText(questionText(question))}\n${t("Waiting for an answer.")}`;
    case "limit":
      if (question.offers) return `${visibleLine(question.reason)}\n${t("Waiting for an answer.")}`;
      return t("This turn reached a limit. Waiting for approval to continue: {reason}", {
        reason: question.reason,
      });
  }
}

type QuestionAnswer =
  | { decision: "allow"; input?: Json; remember?: { pattern: string; scope: "conversation" } }
  | { decision: "deny"; reason?: string }
  | { decision: "answer"; text: string };

type PlanChoice = NonNullable<Command<"question.answer">["approval"]>;

function useAnswer(conversation: string, question: string) {
  const { connection } = usePage();
  const [problem, setProblem] = useState<string>();
  const send = (answer: QuestionAnswer, approval?: PlanChoice) => {
    const focused = document.activeElement;
    const moveOn = focusAfter(focused);
    connection
      .ask("question.answer", {
        conversation,
        question,
        answer: answer as Command<"question.answer">["answer"],
        ...(approval && { approval }),
      })
      .then(
        () => {
          // The card loses the focus, now or soon, unless the user has moved the focus elsewhere.
          if (![focused, document.body].includes(document.activeElement)) return;
          moveOn();
        },
        (error: unknown) => setProblem(errorMessage(error)),
      );
  };
  return { send, problem };
}

function Permission({
  conversation,
  question,
  call,
}: QuestionProps<Extract<OpenQuestion, { type: "approval" }>> & { readonly call: Call }) {
  const { send, problem } = useAnswer(conversation, question.id);
  const [editing, setEditing] = useState<CallText>();
  const [edited, setEdited] = useState("");
  const [reason, setReason] = useState("");
  const [pattern, setPattern] = useState(question.pattern ?? "");
  const input = editing && readIn(editing, edited);
  const allow = (remember?: "conversation"): QuestionAnswer => ({
    decision: "allow",
    ...(input === undefined ? {} : { input: input.value }),
    ...(remember ? { remember: { pattern, scope: remember } } : {}),
  });
  const isBroken = input !== undefined && "problem" in input;
  const deny = () => send(reason === "" ? { decision: "deny" } : { decision: "deny", reason });
  const card = useRef<HTMLFieldSetElement>(null);
  const edit = (text: CallText) => {
    setEditing(text);
    setEdited(text.text);
  };
  const stopEditing = () => {
    setEditing(undefined);
    card.current?.focus();
  };
  // Keys count only while the focus is in the card. Except Escape, all need a modifier (W53).
  const onKeyDown = (event: React.KeyboardEvent) => {
    const keys = keysOf(event.nativeEvent);
    if (keys === "Alt+A" && !isBroken) send(allow());
    else if (keys === "Alt+S" && question.pattern !== undefined && !editing) send(allow("conversation"));
    else if (keys === "Alt+D") deny();
    else if (event.key === "Escape" && editing) stopEditing();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const questionText = askedInWords(call, question.preview, editing !== undefined);
  const isPlan = call.about?.handsIn === true;
  const mayUseSandbox = usePageState(
    ({ connection }) =>
      connection.phase === "open" && offersSandbox(connection.welcome.settings, conversation, call, question.preview),
  );
  return (
    <fieldset
      ref={card}
      aria-label={questionText}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the card takes Alt+A, Alt+S and Alt+D while it has the focus.
      tabIndex={0}
      onKeyDown={onKeyDown}
      className="flex min-w-0 flex-col gap-2.5 border-hair border-t bg-warn-ground/50 px-3 py-3 text-sm"
    >
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-semibold [overflow-wrap:anywhere]">{questionText}</span>
        {call.about?.folder !== undefined && call.about.url === undefined && (
          <span className="text-soft text-xs">
            {tParts("in {directory}", {
              directory: <code className="font-mono">{visibleLine(call.about.folder)}</code>,
            })}
          </span>
        )}
      </p>
      <ShownLines call={call} preview={question.preview} {...(editing && !isBroken && { input: input?.value })} />
      {editing && (
        <TextArea
          // Switching to all arguments starts a new text.
          key={editing.name}
          isCode
          ref={takesFocus}
          aria-label={editing.name ?? t("Arguments")}
          value={edited}
          onChange={({ target }) => setEdited(target.value)}
          rows={Math.min(12, editing.text.split("\n").length)}
        />
      )}
      {isBroken && <p className="text-bad text-xs">{input.problem}</p>}
      <div className="flex flex-wrap items-center gap-2">
        <Button look="main" disabled={isBroken} onClick={() => send(allow())}>
          {isPlan ? t("Approve, and ask before changes") : t("Allow once")} <Key>A</Key>
        </Button>
        {isPlan && (
          <Button disabled={isBroken} onClick={() => send(allow(), "edits")}>
            {t("Approve, and edit files freely")}
          </Button>
        )}
        {mayUseSandbox && (
          <Button disabled={isBroken} onClick={() => send(allow(), "sandbox")}>
            {t("Allow, and run commands in the sandbox without asking")}
          </Button>
        )}
        <Button look="bad" onClick={deny}>
          {isPlan ? t("Keep planning") : t("Deny")} <Key>D</Key>
        </Button>
        <TextField
          aria-label={isPlan ? t("What should change?") : t("Reason (optional)")}
          placeholder={isPlan ? t("What should change?") : t("Reason (optional)")}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || reason.trim() === "") return;
            event.preventDefault();
            deny();
          }}
        />
        <Button
          look="quiet"
          aria-expanded={editing !== undefined}
          onClick={() => (editing ? stopEditing() : edit(thingText(call, say) ?? inJson(call.input)))}
        >
          {editing ? t("Undo my edit") : t("Edit first")}
        </Button>
        {editing?.name !== undefined && (
          <Button look="quiet" disabled={isBroken} onClick={() => edit(inJson(input?.value))}>
            {t("All arguments")}
          </Button>
        )}
      </div>
      {mayUseSandbox && (
        <p className="text-soft text-xs">{t("Caches such as node_modules are rebuilt, not undone.")}</p>
      )}
      {question.pattern !== undefined && !editing && (
        <div className="flex flex-wrap items-center gap-2">
          <Button onClick={() => send(allow("conversation"))}>
            {t("Allow for this conversation")} <Key>S</Key>
          </Button>
          <TextField
            isSmall
            isCode
            aria-label={t("Rule to allow")}
            value={pattern}
            onChange={({ target }) => setPattern(target.value)}
          />
          {visibleLine(pattern) !== pattern && (
            <code className="font-mono text-warn text-xs [unicode-bidi:bidi-override]">{visibleLine(pattern)}</code>
          )}
          <Harmless rules={[pattern]} />
        </div>
      )}
      {problem !== undefined && <p className="text-bad text-xs">{problem}</p>}
    </fieldset>
  );
}

/** The question in words, from the tool's `about` (W56). Edited arguments no longer tell which file they change. */
function askedInWords(call: Call, preview: Preview | undefined, isEdited: boolean): string {
  const { about } = call;
  const tool = visibleLine(toolNameOf(call));
  if (about?.handsIn) return t("Approve this plan?");
  if (about?.command !== undefined) return t("Run this command?");
  // The arguments of an MCP tool name a file, but not what happens to it.
  if (isEdited || about?.offered) return t("Use {tool}?", { tool });
  const written = about?.paths?.find(({ access }) => access === "write");
  if (written) {
    const isNew = preview?.changes?.some(({ path, kind }) => path === written.path && kind === "created");
    const path = visibleLine(written.path);
    return isNew ? t("Create {path}?", { path }) : t("Change {path}?", { path });
  }
  if (about?.url !== undefined) return t("Open this page?");
  if (about?.agent !== undefined) return t("Start the sub-agent {agent}?", { agent: visibleLine(about.agent) });
  return t("Use {tool}?", { tool });
}

function GoesOn({ conversation, question }: QuestionProps<Extract<OpenQuestion, { type: "limit" }>>) {
  const { send, problem } = useAnswer(conversation, question.id);
  return (
    <fieldset
      id="limit"
      aria-label={question.offers ? t("Store the message as a file?") : t("Continue past the limit?")}
      tabIndex={-1}
      className="flex flex-col gap-2 rounded-xl border border-warn/40 bg-warn-ground px-4 py-3 text-sm in-[li]:rounded-none in-[li]:border-x-0 in-[li]:border-b-0"
    >
      <p className="font-semibold text-warn">
        {question.offers
          ? t("Store the message as a file?")
          : t("Continue this turn until it reaches the same limits again?")}
      </p>
      <p>{visibleLine(question.reason)}</p>
      <div className="flex flex-wrap gap-2">
        <Button look="main" onClick={() => send({ decision: "allow" })}>
          {question.offers ? t("Store as a file") : t("Continue")}
        </Button>
        <Button onClick={() => send({ decision: "deny" })}>
          {question.offers ? t("Do not send") : t("Stop here")}
        </Button>
      </div>
      {problem !== undefined && <p className="text-bad text-xs">{problem}</p>}
    </fieldset>
  );
}

function InWords({ conversation, question }: QuestionProps<TextQuestion>) {
  const { send, problem } = useAnswer(conversation, question.id);
  const [text, setText] = useState(question.default ?? "");
  const label = useId();
  return (
    <form
      className="flex flex-col gap-2 border-hair border-t bg-warn-ground/50 px-3 py-3 text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        send({ decision: "answer", text });
      }}
    >
      <p id={label} className="whitespace-pre-wrap font-medium [unicode-bidi:plaintext]">
        {visibleText(question.text)}
      </p>
      <div className="flex flex-wrap gap-2">
        {question.choices?.map((choice) => (
          <Button key={choice} onClick={() => send({ decision: "answer", text: choice })}>
            {visibleLine(choice)}
          </Button>
        ))}
      </div>
      <TextArea aria-labelledby={label} value={text} onChange={({ target }) => setText(target.value)} />
      <div className="flex gap-2">
        <Button type="submit" disabled={text === ""}>
          {t("Answer")}
        </Button>
        <Button onClick={() => send({ decision: "deny" })}>{t("Skip")}</Button>
      </div>
      {problem !== undefined && <p className="text-bad text-xs">{problem}</p>}
    </form>
  );
}

function InFields({
  conversation,
  question,
  fields,
}: QuestionProps<TextQuestion> & { readonly fields: readonly QuestionField[] }) {
  const { send, problem } = useAnswer(conversation, question.id);
  return (
    <QuestionForm
      text={question.text}
      fields={fields}
      problem={problem}
      onAnswer={(text) => send({ decision: "answer", text })}
      onDecline={() => send({ decision: "deny" })}
    />
  );
}

/** Explains `[harmless]`, if a rule contains this word (S24). */
export function Harmless({ rules }: { readonly rules: readonly string[] }) {
  if (!rules.some((rule) => rule.includes("[harmless]"))) return null;
  return (
    <p className="basis-full text-soft text-xs">
      {tParts("{harmless}: any option that changes nothing", {
        harmless: <code className="font-mono">[harmless]</code>,
      })}
    </p>
  );
}

function Key({ children }: { readonly children: string }) {
  return (
    <kbd className="ms-1 font-mono text-[0.6875rem] opacity-80 [@media(hover:none)]:hidden">
      {keysInWords(`Alt+${children}`)}
    </kbd>
  );
}

function inJson(input: Json | undefined): CallText {
  return argumentsText(input, { lines: true, say });
}

function readIn(
  editing: CallText,
  written: string,
): { readonly value: Json } | { readonly value?: undefined; readonly problem: string } {
  try {
    return { value: editing.read(written) };
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}

/**
 * Moves the focus after an answer. In a message: to the message. In the list of questions: to the next question, and
 * after the last one to the composer.
 */
function focusAfter(answered: Element | null): () => void {
  const message = answered?.closest<HTMLElement>("article");
  if (message) return () => message.focus({ preventScroll: true });
  const item = answered?.closest("li");
  // Some browsers do not focus a clicked button: then no focus can be lost.
  if (!item) return () => {};
  const all = [...(item.parentElement?.children ?? [])];
  const at = all.indexOf(item);
  const others = [...all.slice(at + 1), ...all.slice(0, at)];
  return () => {
    // The others may have been answered elsewhere meanwhile.
    const next = others.find((one) => one.isConnected);
    if (!next) return focusOn("#composer");
    (
      next.querySelector<HTMLElement>("fieldset[tabindex], form input, form textarea") ?? next.querySelector("a")
    )?.focus();
  };
}
