import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type ConversationSummary, noteQuestions, type OpenQuestion } from "@banyan/core/stores";
import { eventOf } from "../log/row.ts";
import { ASKS, addToSummary, CLOSES, emptySummary, GrowingSummary } from "../log/summary.ts";
import { prepareForArrays, readBesideWriter } from "./database.ts";

/** Number of first events to read: some types only occur there. */
const BEGINNING = 1000;

/** Reads a conversation's summary from a few events in its file, also while another process writes. Never throws. */
export function readFileSummary(file: string, id: string | undefined): ConversationSummary | "empty" | "unreadable" {
  try {
    const read = readBesideWriter(file, (database) => readSummary(database, id));
    return typeof read === "string" ? read : read.listed;
  } catch {
    return "unreadable";
  }
}

/** Reads a conversation's summary. Throws SQLite's errors. */
export function readSummary(database: DatabaseSync, id: string | undefined): GrowingSummary | "empty" | "unreadable" {
  const select = (rest: string) =>
    prepareForArrays(database, `SELECT seq, epoch, at, type, body, crc FROM events ${rest}`);
  const summary = emptySummary(id ?? "");
  let events = 0;
  const add = (row: unknown) => {
    const event = eventOf(row as readonly unknown[]);
    if (!event) return;
    if (id === undefined && event.type === "conversation.created") summary.id = event.id;
    addToSummary(summary, event);
    events++;
  };
  const wanted = "type IN ('conversation.created', 'message.added')";
  for (const row of select(`WHERE seq <= ${BEGINNING} AND (seq = 1 OR ${wanted}) ORDER BY seq`).iterate()) {
    add(row);
    if (summary.title !== "") break;
  }
  for (const row of select("WHERE type = 'title.changed' ORDER BY seq DESC LIMIT 1").all()) add(row);
  const last = select("ORDER BY seq DESC LIMIT 1").all();
  for (const row of last) add(row);
  if (events > 0 && summary.id !== "") return new GrowingSummary(summary, openQuestions(select));
  return last.length === 0 ? "empty" : "unreadable";
}

/** Reads few events: a question is either closed soon, or followed by few events. */
function openQuestions(select: (rest: string) => StatementSync): Map<string, OpenQuestion> {
  const open = new Map<string, OpenQuestion>();
  const behind = select(`WHERE seq > ? AND ((${CLOSES}) OR (${ASKS})) ORDER BY seq`);
  for (const row of select(`WHERE ${ASKS} ORDER BY seq`).all()) {
    const asked = eventOf(row as unknown as readonly unknown[]);
    if (!asked) continue;
    const questions = new Map<string, OpenQuestion>();
    noteQuestions(questions, asked);
    const [question] = questions.values();
    for (const later of question ? behind.iterate(asked.seq) : []) {
      const event = eventOf(later as unknown as readonly unknown[]);
      if (event) noteQuestions(questions, event);
      if (!question || !questions.has(question.id)) break;
    }
    const still = question && questions.get(question.id);
    if (still) open.set(still.id, still);
  }
  return open;
}
