import type { Event } from "../event.ts";
import type { ApprovalQuestion, EarlierQuestion, Mutable, MutableState, OpenQuestion, TextQuestion } from "../state.ts";

/**
 * Opens and closes questions to the user, as an event requires. Returns true if any question changed. `leaf`: the last
 * message of the run, needed for a `run.paused` event.
 * @example
 * const questions = new Map<string, OpenQuestion>();
 * for await (const item of agent.chat(say("Hello"))) if (isEvent(item)) noteQuestions(questions, item);
 */
export function noteQuestions(questions: Map<string, OpenQuestion>, event: Event, leaf: string | null = null): boolean {
  switch (event.type) {
    case "call.approval-requested": {
      closeOf(questions, event.call);
      const { question: id, message, call, pattern, preview, survives } = event;
      const question: Mutable<ApprovalQuestion> = { type: "approval", id, message, call };
      if (pattern !== undefined) question.pattern = pattern;
      if (preview !== undefined) question.preview = preview;
      if (survives !== undefined) question.survives = survives;
      questions.set(id, question);
      return true;
    }
    case "question.asked": {
      const { question: id, message, call, text, choices, fields, default: otherwise, survives } = event;
      const question: Mutable<TextQuestion> = { type: "text", id, message, call, text };
      if (choices !== undefined) question.choices = choices;
      if (fields !== undefined) question.fields = fields;
      if (otherwise !== undefined) question.default = otherwise;
      if (survives !== undefined) question.survives = survives;
      questions.set(id, question);
      return true;
    }
    case "run.paused": {
      const { question: id, run, reason, offers, survives } = event;
      const kind = { ...(offers !== undefined && { offers }), ...(survives === false && { survives }) };
      questions.set(id, { type: "limit", id, message: leaf, run, reason, ...kind });
      return true;
    }
    case "call.approval-resolved":
    case "run.continued":
      return questions.delete(event.question);
    case "question.answered":
      return questions.get(event.question)?.type === "text" && questions.delete(event.question);
    case "call.completed":
    case "call.failed":
    case "call.denied":
    case "call.cancelled":
      return questions.size > 0 && closeOf(questions, event.call);
    case "run.started":
    case "run.ended":
      return questions.size > 0 && ofRun(questions, event);
    default:
      return false;
  }
}

function closeOf(questions: Map<string, OpenQuestion>, call: string): boolean {
  let has = false;
  for (const question of questions.values())
    if (question.type !== "limit" && question.call === call) has = questions.delete(question.id) || has;
  return has;
}

/** Passes limit questions to the run that continues the turn, or closes them when the turn ends. */
function ofRun(
  questions: Map<string, OpenQuestion>,
  event: Extract<Event, { type: "run.started" | "run.ended" }>,
): boolean {
  if (event.type === "run.ended" && event.reason === "waiting") return false;
  const before = event.type === "run.ended" ? event.run : event.continues;
  let has = false;
  for (const question of questions.values()) {
    if (question.type !== "limit" || question.run !== before) continue;
    has = true;
    if (event.type === "run.ended") questions.delete(question.id);
    else questions.set(question.id, { ...question, run: event.run });
  }
  return has;
}

/**
 * True if a question stays open after its process has ended.
 * @example console.log(session.openQuestions.filter(survivesProcess).length);
 */
export function survivesProcess(question: OpenQuestion): boolean {
  return question.type === "text" ? question.survives !== undefined : question.survives !== false;
}

/** Keeps a user's answer, in case the asking call runs again. */
export function noteAnswer(
  state: MutableState,
  call: string,
  event: Extract<Event, { type: "question.answered" }>,
): void {
  const asked = state.asked.get(call);
  if (!asked) return;
  const { question, text, reason, withdrawn } = event;
  const answer = text === undefined ? { declined: reason } : { text };
  const noted = asked.flatMap((before): EarlierQuestion[] => {
    if (before.question !== question) return [before];
    return withdrawn ? [] : [{ ...before, answer }];
  });
  state.asked.set(call, noted);
}
