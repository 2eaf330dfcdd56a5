import { noteQuestions, type OpenQuestion } from "@banyan/core/stores";
import { questionsText } from "../log/questions-text.ts";
import { eventOf } from "../log/row.ts";
import { ASKS, CLOSES } from "../log/summary.ts";
import type { Database } from "./database.ts";
import type { Statement } from "./statement.ts";

const AT_ONCE = 100;

/** The open questions in a conversation's row of the table; this row may be older than the log. */
export interface NotedQuestions {
  /** The number of the conversation's row. */
  readonly number: number;
  /** The number of the last event in the log. */
  readonly seq: number;
  /** The number of the last event that the questions include. */
  readonly noted: number;
  readonly questions: Map<string, OpenQuestion>;
}

/**
 * Updates questions that are older than their logs. This happens during an upgrade, when an older server appends events
 * without questions. Changes the questions in place and returns the outdated ones. Rejects with a `StoreError`.
 */
export async function updateQuestions(
  database: Database,
  all: readonly NotedQuestions[],
): Promise<readonly NotedQuestions[]> {
  const behind = all.filter(({ seq, noted }) => noted < seq);
  for (let from = 0; from < behind.length; from += AT_ONCE) {
    const some = behind.slice(from, from + AT_ONCE);
    const of = new Map(some.map(({ number, questions }) => [number, questions]));
    const rows = await database.ask(LATER, [
      some.map(({ number }) => number),
      some.map(({ noted }) => noted),
      some.map(({ seq }) => seq),
      some.map(({ questions }) => questions.size > 0),
    ]);
    for (const [number, ...row] of rows) {
      const event = eventOf(row);
      const questions = of.get(Number(number));
      if (event && questions) noteQuestions(questions, event);
    }
  }
  return behind;
}

/** Stores updated questions, unless another node has been faster. Rejects with a `StoreError`. */
export async function storeQuestions(database: Database, behind: readonly NotedQuestions[]): Promise<void> {
  if (behind.length === 0) return;
  await database.ask(KEEP, [
    behind.map(({ number }) => number),
    behind.map(({ noted }) => noted),
    behind.map(({ seq }) => seq),
    behind.map(({ questions }) => questionsText(questions)),
  ]);
}

const LATER: Statement = {
  text: `
  SELECT conversation, seq, epoch, at, type, body, crc
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[]) AS s (number, noted, until, has)
  JOIN banyan.events AS e ON e.conversation = s.number AND e.seq > s.noted AND e.seq <= s.until
  WHERE (${ASKS} OR ${CLOSES}) AND (s.has OR EXISTS (
    SELECT FROM banyan.events AS a WHERE a.conversation = s.number AND a.seq > s.noted AND a.seq <= s.until AND ${ASKS}))
  ORDER BY conversation, seq`,
};

const KEEP: Statement = {
  text: `
  UPDATE banyan.conversations AS c SET questions = g.questions, questions_seq = g.until
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS g (number, noted, until, questions)
  WHERE c.number = g.number AND c.questions_seq = g.noted`,
};
