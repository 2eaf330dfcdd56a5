import type { SearchHit, SearchOptions } from "@banyan/core/stores";
import { eventOf } from "../log/row.ts";
import { excerptOf } from "../search/excerpt.ts";
import { lexemesOfWord } from "../search/lexemes.ts";
import { LIMIT } from "../search/search-logs.ts";
import { searchableEvents } from "../search/searchable-event.ts";
import { holdsWords, queryWords } from "../search/words.ts";
import { labelBeginnings, labelTexts, withoutLabels } from "./append.ts";
import type { Database } from "./database.ts";
import type { Columns, Statement } from "./statement.ts";

/** Minimum and maximum messages to check at once. */
const FEWEST = 50;
const MOST = 1000;

/** Finds messages by the index, and checks the text of each message. Rejects with a `StoreError`. */
export async function searchMessages(
  database: Database,
  query: string,
  { limit = LIMIT, labels = {}, without = [], conversation, signal }: SearchOptions,
): Promise<SearchHit[]> {
  signal?.throwIfAborted();
  const words = queryWords(query);
  const hits: SearchHit[] = [];
  if (words.length === 0 || limit <= 0) return hits;
  const holds = holdsWords(words);
  // Each page starts after the last checked message, so concurrent writes cause no repeats and no gaps.
  let behind: readonly [at: unknown, message: unknown, number: unknown] = [null, null, null];
  for (;;) {
    signal?.throwIfAborted();
    const batch = Math.min(Math.max(limit - hits.length, FEWEST), MOST);
    const values = [
      tsquery(words),
      labelTexts(labels),
      conversation ?? null,
      ...behind,
      batch,
      labelBeginnings(without),
    ];
    const rows = await database.ask(FOUND, values);
    for (const row of rows) {
      const hit = hitIn(row, words, holds);
      if (hit && hits.push(hit) >= limit) return hits;
    }
    const last = rows.at(-1);
    if (!last || rows.length < batch) return hits;
    behind = [last[2], last[3], last[4]];
  }
}

function hitIn(row: Columns, words: readonly string[], holds: (text: string) => boolean): SearchHit | undefined {
  const [id, title, , , , ...event] = row;
  const read = eventOf(event);
  const said = read && searchableEvents(read).find((one) => one.type === "text");
  if (!said || !holds(said.text)) return undefined;
  const { message, role, text } = said;
  return { conversation: String(id), title: String(title), message, role, at: read.at, ...excerptOf(text, words) };
}

/** Words contain only letters and digits, so in quotation marks they are no operators. */
function tsquery(words: readonly string[]): string {
  return words
    .flatMap((word, index) => lexemesOfWord(word, index === words.length - 1))
    .map(({ text, continues }) => `'${text}'${continues ? ":*" : ""}`)
    .join(" & ");
}

const FOUND: Statement = {
  text: `
  SELECT c.id, c.title, m.at, m.message, m.conversation, e.seq, e.epoch, e.at, e.type, e.body, e.crc
  FROM (
    SELECT * FROM banyan.messages WHERE words @@ $1::tsquery
    UNION ALL
    SELECT * FROM banyan.messages WHERE seq IS NOT NULL AND words IS NULL
  ) AS m
  JOIN banyan.conversations AS c ON c.number = m.conversation
  JOIN banyan.events AS e ON e.conversation = m.conversation AND e.seq = m.seq
  WHERE c.labels @> $2::text[] AND ($3::text IS NULL OR c.id = $3) AND ${withoutLabels("$8")}
    AND ($4::bigint IS NULL OR (m.at, m.message, m.conversation) < ($4, $5::text COLLATE "C", $6::bigint))
    AND NOT (
      EXISTS (SELECT FROM banyan.messages AS r WHERE r.conversation = m.conversation AND r.removed)
      AND EXISTS (
        WITH RECURSIVE above (message, parent, removed) AS (
          SELECT m.message, m.parent, m.removed
          UNION
          SELECT p.message, p.parent, p.removed
          FROM above JOIN banyan.messages AS p ON p.conversation = m.conversation AND p.message = above.parent
        )
        SELECT FROM above WHERE removed
      )
    )
  ORDER BY m.at DESC, m.message DESC, m.conversation DESC LIMIT $7`,
};
