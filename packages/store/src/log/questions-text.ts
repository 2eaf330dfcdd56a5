import type { OpenQuestion } from "@banyan/core/stores";

/** Converts open questions to JSON without their texts, which the log contains. */
export function questionsText(questions: ReadonlyMap<string, OpenQuestion>): string {
  const kept = [...questions.values()].map(({ type, id, message, survives, ...asks }) => {
    const whose = "run" in asks ? { run: asks.run } : { call: asks.call };
    return { type, id, message, ...whose, ...(survives !== undefined && { survives }) };
  });
  return JSON.stringify(kept);
}

/** Parses stored questions. Their texts are empty. */
export function questionsFrom(text: unknown): Map<string, OpenQuestion> {
  const kept = JSON.parse(String(text)) as Record<string, unknown>[];
  const questions = kept.map((each) => ({ text: "", reason: "", ...each }) as unknown as OpenQuestion);
  return new Map(questions.map((question) => [question.id, question]));
}
