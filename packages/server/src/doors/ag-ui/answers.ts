import { ClientError } from "@banyan/client";
import { approvalSubject, type WaitingQuestion } from "@banyan/client/display";
import { questionText } from "@banyan/client/words";
import type { Json, OpenQuestion } from "@banyan/core/conversation";
import { z } from "zod";
import type { ProgramAnswer } from "../turn-stream.ts";
import type { AgUiInterrupt } from "./event.ts";

/** A program's answer to an interrupt of AG-UI. */
export const resumeEntry = z.object({
  interruptId: z.string().min(1).max(200),
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown().optional(),
});
type ResumeEntry = z.infer<typeof resumeEntry>;

const APPROVED = { approved: { type: "boolean" } } as const;

/** Converts an open question to an interrupt of AG-UI. */
export function interruptOf(question: WaitingQuestion): AgUiInterrupt {
  const { id } = question;
  switch (question.type) {
    case "approval": {
      const { call: toolCallId } = question;
      const properties = { ...APPROVED, editedArgs: { type: "object" }, reason: { type: "string" } };
      const responseSchema = { type: "object", properties, required: ["approved"] };
      return {
        id,
        reason: "tool_call",
        message: `May the agent run ${approvalSubject(question)}?`,
        toolCallId,
        responseSchema,
      };
    }
    case "text": {
      const { call: toolCallId, choices } = question;
      const message = questionText(question);
      const text: Json = { type: "string", ...(choices && { examples: choices }) };
      const responseSchema = { type: "object", properties: { text }, required: ["text"] };
      return { id, reason: "input_required", message, toolCallId, responseSchema };
    }
    case "limit": {
      const responseSchema = { type: "object", properties: APPROVED, required: ["approved"] };
      return { id, reason: "confirmation", message: question.text, responseSchema };
    }
    default:
      return question satisfies never;
  }
}

const approval = z.object({ approved: z.boolean(), editedArgs: z.unknown().optional(), reason: z.string().optional() });
const words = z.union([z.string(), z.object({ text: z.string() })]);

/** Converts a program's entry to the answer to its question. Throws `ClientError` for a payload that does not fit. */
export function resumeAnswer({ interruptId, status, payload }: ResumeEntry, type: OpenQuestion["type"]): ProgramAnswer {
  const question = interruptId;
  if (status === "cancelled") return { question, answer: { decision: "deny" } };
  if (type === "text") {
    const { data } = words.safeParse(payload);
    if (data === undefined) throw payloadError(interruptId, '{"text": "..."}');
    return { question, answer: { decision: "answer", text: typeof data === "string" ? data : data.text } };
  }
  const { data } = approval.safeParse(payload);
  if (!data) throw payloadError(interruptId, '{"approved": true} or {"approved": false}');
  const { approved, editedArgs, reason } = data;
  if (!approved) return { question, answer: { decision: "deny", ...(reason === undefined ? {} : { reason }) } };
  const input = editedArgs === undefined || type === "limit" ? {} : { input: editedArgs };
  return { question, answer: { decision: "allow", ...input } };
}

function payloadError(interruptId: string, form: string): ClientError {
  return new ClientError("malformed", `resume: the payload for ${JSON.stringify(interruptId)} must be ${form}.`);
}
