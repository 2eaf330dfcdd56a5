import {
  type AgentContext,
  type CreateElicitationRequest,
  type ElicitationPropertySchema,
  type ElicitationSchema,
  methods,
  type PermissionOption,
  RequestError,
  type RequestPermissionRequest,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { filledText } from "@banyan/client/words";
import type {
  ApprovalQuestion,
  Call,
  ConversationState,
  LimitQuestion,
  OpenQuestion,
  Preview,
  QuestionField,
  TextQuestion,
} from "@banyan/core/conversation";
import type { Command } from "@banyan/protocol";
import { textContent, toolCallOf } from "./calls.ts";
import { callAt } from "./editor-updates.ts";

/** A user's answer to a question. */
export type EditorAnswer = Command<"question.answer">["answer"];

/** A user's answer. `approval` is the mode of an approved plan, or a new approval mode. */
export type AnswerWithMode = EditorAnswer & { readonly approval?: Command<"question.answer">["approval"] };

/** The editor and session that show a question. */
export interface EditorQuestion {
  readonly client: Pick<AgentContext, "request">;
  readonly sessionId: string;
  readonly workspace: string;
  readonly elicitation: boolean;
  /** Returns whether an answer about a call may also set approval mode `sandbox` (S37). */
  offersSandbox(call: Call, preview: Preview | undefined): boolean;
  /** A signal that aborts when the question is no longer open. */
  readonly signal: AbortSignal;
}

const CANNOT_ASK = "This editor cannot show questions.";

/**
 * Asks the editor's user. Resolves with the answer, or with `undefined` if the question is no longer open. Resolves
 * with `inWords` if the question must be asked as a message. If the editor cannot ask, the question is denied.
 */
export async function askEditor(
  question: OpenQuestion,
  state: ConversationState,
  asking: EditorQuestion,
): Promise<AnswerWithMode | "inWords" | undefined> {
  try {
    switch (question.type) {
      case "approval":
        return await askApproval(question, state, asking);
      case "text":
        return await askText(question, asking);
      case "limit":
        return await askLimit(question, asking);
    }
  } catch (error) {
    if (asking.signal.aborted) return undefined;
    const why = error instanceof RequestError ? `${CANNOT_ASK} The editor answered: ${error.message}` : CANNOT_ASK;
    return { decision: "deny", reason: why };
  }
}

async function askApproval(
  { call: id, pattern, preview }: ApprovalQuestion,
  state: ConversationState,
  asking: EditorQuestion,
): Promise<AnswerWithMode | undefined> {
  const call = callAt(state, id);
  const toolCall = call ? askedCall(call, asking.workspace, preview) : { toolCallId: id };
  if (call?.about?.handsIn) return await askPlan(toolCall, asking);
  const chosen = await askEditorToChoose(
    asking,
    toolCall,
    approvalOptions(pattern, call !== undefined && asking.offersSandbox(call, preview)),
  );
  switch (chosen) {
    case "once":
      return { decision: "allow" };
    case "sandbox":
      return { decision: "allow", approval: "sandbox" };
    case "conversation":
    case "always":
      return { decision: "allow", remember: { pattern: pattern ?? "", scope: chosen } };
    case "no":
      return { decision: "deny" };
    case "never":
      return { decision: "deny", remember: { pattern: pattern ?? "", scope: "always" } };
    default:
      return typeof chosen === "object" ? chosen : undefined;
  }
}

function askedCall(call: Call, workspace: string, preview: Preview | undefined): ToolCallUpdate {
  const shown = toolCallOf(call, workspace, { preview });
  const { folder = workspace } = call.about ?? {};
  if (folder === workspace) return shown;
  return { ...shown, content: [textContent(`In ${folder}`), ...(shown.content ?? [])] };
}

/** The answers to a call. A lasting answer needs a rule that can be stored. */
function approvalOptions(pattern: string | undefined, offersSandbox: boolean): PermissionOption[] {
  const once: PermissionOption = { optionId: "once", name: "Allow once", kind: "allow_once" };
  const sandbox = offersSandbox ? [IN_SANDBOX] : [];
  const no: PermissionOption = { optionId: "no", name: "Reject", kind: "reject_once" };
  if (pattern === undefined) return [once, ...sandbox, no];
  return [
    once,
    ...sandbox,
    { optionId: "conversation", name: `Always allow ${pattern} in this conversation`, kind: "allow_always" },
    { optionId: "always", name: `Always allow ${pattern}`, kind: "allow_always" },
    no,
    { optionId: "never", name: `Never allow ${pattern}`, kind: "reject_always" },
  ];
}

const IN_SANDBOX: PermissionOption = {
  optionId: "sandbox",
  name: "Allow, and run commands in the sandbox without asking (caches such as node_modules are rebuilt, not undone)",
  kind: "allow_always",
};

const PLAN_OPTIONS = [
  { optionId: "ask", name: "Approve, and ask before changes", kind: "allow_once" },
  { optionId: "edits", name: "Approve, and edit files freely", kind: "allow_always" },
  { optionId: "no", name: "No, keep planning", kind: "reject_once" },
] as const;

async function askPlan(toolCall: ToolCallUpdate, asking: EditorQuestion): Promise<AnswerWithMode | undefined> {
  const chosen = await askEditorToChoose(asking, toolCall, [...PLAN_OPTIONS]);
  if (chosen === undefined || typeof chosen === "object") return chosen;
  return chosen === "ask" || chosen === "edits" ? { decision: "allow", approval: chosen } : { decision: "deny" };
}

async function askText(question: TextQuestion, asking: EditorQuestion): Promise<EditorAnswer | "inWords" | undefined> {
  const { text, choices = [], fields, default: otherwise, call } = question;
  if (asking.elicitation) {
    const values = fields
      ? await fillInFields(asking, text, fields, call)
      : await fillInOne(asking, text, { choices, otherwise, call });
    return values === undefined
      ? undefined
      : values === null
        ? { decision: "deny" }
        : { decision: "answer", text: values };
  }
  if (fields) return chooseField(question, fields, asking);
  if (choices.length === 0) return "inWords";
  const options = choices.map((name, index) => ({ optionId: String(index), name, kind: "allow_once" }) as const);
  const chosen = await askEditorToChoose(
    asking,
    { toolCallId: question.id, title: text, kind: "other", status: "pending" },
    [...options, { optionId: "no", name: "Do not answer", kind: "reject_once" }],
  );
  if (chosen === undefined || typeof chosen === "object") return chosen;
  const answer = choices[Number(chosen)];
  return answer === undefined ? { decision: "deny" } : { decision: "answer", text: answer };
}

/** Without forms: a single choice becomes a permission request; other questions are asked as a message. */
async function chooseField(
  { id, text }: TextQuestion,
  fields: readonly QuestionField[],
  asking: EditorQuestion,
): Promise<EditorAnswer | "inWords" | undefined> {
  const [field, ...more] = fields;
  if (!field || field.several || more.length > 0) return "inWords";
  const options = field.choices.map(({ label, description }, index) => ({
    ...({ optionId: String(index), kind: "allow_once" } as const),
    name: description === undefined ? label : `${label}: ${description}`,
  }));
  const title = `${text}\n${field.heading}: ${field.text}`;
  const chosen = await askEditorToChoose(asking, { toolCallId: id, title, kind: "other", status: "pending" }, [
    ...options,
    { optionId: "words", name: "Answer in words", kind: "allow_once" },
    { optionId: "no", name: "Do not answer", kind: "reject_once" },
  ]);
  if (chosen === undefined || typeof chosen === "object") return chosen;
  if (chosen === "words") return "inWords";
  const choice = field.choices[Number(chosen)];
  return choice ? { decision: "answer", text: choice.label } : { decision: "deny" };
}

const MORE = "Continue until the same limits are reached again";
const ENOUGH = "Stop here";

async function askLimit(
  { id, reason, offers }: LimitQuestion,
  asking: EditorQuestion,
): Promise<EditorAnswer | undefined> {
  const [more, enough] = offers ? ["Store as a file", "Do not send"] : [MORE, ENOUGH];
  if (asking.elicitation) {
    const question = offers ? reason : `${reason} Continue?`;
    const reply = await fillInOne(asking, question, { choices: [more, enough] });
    return reply === undefined ? undefined : { decision: reply === more ? "allow" : "deny" };
  }
  const chosen = await askEditorToChoose(asking, { toolCallId: id, title: reason, kind: "other", status: "pending" }, [
    { optionId: "more", name: more, kind: "allow_once" },
    { optionId: "enough", name: enough, kind: "reject_once" },
  ]);
  if (chosen === undefined || typeof chosen === "object") return chosen;
  return { decision: chosen === "more" ? "allow" : "deny" };
}

/** Asks the user for consent outside of calls. The user reads only `title`. Returns false if no user can be asked. */
export async function askEditorForConsent(asking: EditorQuestion, id: string, title: string): Promise<boolean> {
  const options: PermissionOption[] = [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ];
  const chosen = await askEditorToChoose(
    asking,
    { toolCallId: id, title, kind: "switch_mode", status: "pending" },
    options,
  ).catch(() => undefined);
  return chosen === "yes";
}

/** The id of the chosen option; a denial if the user closed the question, `undefined` if it is no longer open. */
async function askEditorToChoose(
  { client, sessionId, signal }: EditorQuestion,
  toolCall: ToolCallUpdate,
  options: PermissionOption[],
): Promise<string | Extract<EditorAnswer, { decision: "deny" }> | undefined> {
  const request: RequestPermissionRequest = { sessionId, toolCall, options };
  const { outcome } = await client.request(methods.client.session.requestPermission, request, {
    cancellationSignal: signal,
    stopWaitingOnCancel: true,
  });
  if (signal.aborted) return undefined;
  if (outcome.outcome === "cancelled") return { decision: "deny" };
  if (options.some(({ optionId }) => optionId === outcome.optionId)) return outcome.optionId;
  return { decision: "deny", reason: `The editor chose ${JSON.stringify(outcome.optionId)}, which was not offered.` };
}

/** The text or choice of the user; `null` if the user declined, `undefined` if the question is no longer open. */
async function fillInOne(
  asking: EditorQuestion,
  message: string,
  field: {
    readonly choices: readonly string[];
    readonly otherwise?: string | undefined;
    readonly call?: string;
  },
): Promise<string | null | undefined> {
  const { choices, otherwise, call } = field;
  const form = {
    properties: {
      answer: {
        type: "string",
        title: "Answer",
        ...(choices.length > 0 ? { enum: [...choices] } : {}),
        ...(otherwise === undefined ? {} : { default: otherwise }),
      },
    },
    required: ["answer"],
  };
  const content = await askForm(asking, message, form, call);
  if (!content) return content;
  return typeof content.answer === "string" ? content.answer : null;
}

/** The answers to all fields as one text; `null` if the user filled in none. */
async function fillInFields(
  asking: EditorQuestion,
  message: string,
  fields: readonly QuestionField[],
  call: string,
): Promise<string | null | undefined> {
  const properties: Record<string, ElicitationPropertySchema> = {};
  for (const [index, { heading: title, text: description, choices, several }] of fields.entries()) {
    const options = choices.map(({ label, ...more }) => ({ const: label, title: label, ...more }));
    properties[`answer_${index + 1}`] = several
      ? { type: "array", title, description, items: { anyOf: options } }
      : { type: "string", title, description, oneOf: options };
    properties[`words_${index + 1}`] = { type: "string", title: `${title}: in your own words` };
  }
  const content = await askForm(asking, message, { properties, required: [] }, call);
  if (!content) return content;
  const filled = fields.map(({ choices }, index) => {
    const answer = [content[`answer_${index + 1}`] ?? []].flat();
    const words = content[`words_${index + 1}`];
    const labels = choices.map(({ label }) => label).filter((label) => answer.includes(label));
    return { chosen: labels, words: typeof words === "string" ? words : "" };
  });
  return filledText(fields, filled) ?? null;
}

async function askForm(
  { client, sessionId, signal }: EditorQuestion,
  message: string,
  { properties, required }: Required<Pick<ElicitationSchema, "properties" | "required">>,
  call?: string,
): Promise<Readonly<Record<string, unknown>> | null | undefined> {
  const form: CreateElicitationRequest = {
    mode: "form",
    sessionId,
    ...(call === undefined ? {} : { toolCallId: call }),
    message,
    requestedSchema: { type: "object", properties, required },
  };
  const reply = await client.request(methods.client.elicitation.create, form, {
    cancellationSignal: signal,
    stopWaitingOnCancel: true,
  });
  if (signal.aborted) return undefined;
  if (reply.action !== "accept") return null;
  return (("content" in reply && reply.content) || {}) as Readonly<Record<string, unknown>>;
}
