import { describe, expect, test } from "vitest";
import type { Kind } from "./items.ts";
import { type Plan, type Played, play } from "./play.ts";
import { banyan } from "./programs/banyan.ts";

const LONG = process.env.BANYAN_LONG === "1";
const SEED = Number(process.env.BANYAN_SEED ?? 1);
const WINDOWS = [8_000, 32_000, 200_000];

/** A row of the table: a summary model, a user, and the least number of items after each summary. */
interface Row extends Pick<Plan, "summariser" | "pastes"> {
  readonly least: number;
  /** Kinds of items that must never be forgotten. */
  readonly whole?: readonly Kind[];
}

const ROWS: readonly Row[] = [
  { summariser: "repeats all", least: 20 },
  { summariser: "forgets 10 %", least: 18, whole: ["order", "correction", "plan", "file", "process"] },
  { summariser: "says only that the work continues", least: 18 },
  { summariser: "repeats all", pastes: true, least: 20 },
  { summariser: "says only that the work continues", pastes: true, least: 18 },
  { summariser: "is empty", least: 18 },
  { summariser: "refuses", least: 18 },
  { summariser: "fails with 429", least: 18 },
  { summariser: "fails with 503", least: 18 },
];

const nameOf = ({ summariser, pastes }: Row) => `${summariser}${pastes ? ", with a paste at 74 %" : ""}`;

describe("F86, F87: after 20 summaries by a model that", () => {
  const cases = ROWS.flatMap((row) => WINDOWS.map((window) => [nameOf(row), window, row] as const));
  test.runIf(LONG).each(cases)("%s, in a window of %i tokens, is told what was planted", async (_, window, row) => {
    const played = await play(banyan, { ...row, seed: SEED, window });
    expectRecall(played, row, [1, 5, 20]);
    expectBounds(played, row);
  });

  test.runIf(LONG).each(WINDOWS)(
    "says only that the work continues, a user who says twice what is kept is told to be cut short, in a window of %i tokens",
    async (window) => {
      const summariser = "says only that the work continues";
      const played = await play(banyan, { summariser, talkative: true, seed: SEED, window });
      expect(played.failed).toEqual([]);
      for (const number of [1, 5, 20]) {
        const { whole = [], counted } = played.recalls[number - 1] ?? {};
        // The first message is the task; the last belongs to the running turn.
        expect([whole.at(0), whole.at(-1), whole.at(-2)], `behind summary ${number}`).toEqual([true, true, true]);
        const missing = whole.filter((isThere) => !isThere).length;
        if (missing > 0) expect(counted).toContain(missing);
      }
      expect(played.recalls[19]?.whole).toContain(false);
      expectBounds(played, { summariser, least: 0 });
    },
  );

  test("says only that the work continues, five times in a window of 8000 tokens, is told what was planted", async () => {
    const row: Row = { summariser: "says only that the work continues", least: 18 };
    const played = await play(banyan, { ...row, seed: SEED, window: 8_000, summaries: 5 });
    expectRecall(played, row, [1, 5]);
    expectBounds(played, row);
  });
});

function expectRecall({ recalls, failed }: Played, { least, whole = [] }: Row, summaries: readonly number[]): void {
  expect(failed).toEqual([]);
  for (const number of summaries) {
    const recall = recalls[number - 1];
    const forgotten = recall?.forgotten ?? [];
    expect(recall?.told.length, `items behind summary ${number}, without ${name(forgotten)}`).toBeGreaterThanOrEqual(
      least,
    );
    expect(forgotten.filter(({ kind }) => whole.includes(kind))).toEqual([]);
  }
}

const name = (items: readonly { readonly kind: string; readonly word: string }[]) =>
  items.map(({ kind, word }) => `${kind} ${word}`).join(", ");

/** The limits of size, cache and number of summaries: good recall must not cost room. */
function expectBounds({ recalls, refused, problems, twice, cached, readForSummary }: Played, { pastes }: Row): void {
  const [first] = recalls;
  for (const [at, { tokens, share }] of recalls.entries()) {
    // After an unanswered paste, no room is left for other messages.
    if (!pastes) expect(tokens / (first?.tokens ?? 0), `summary ${at + 1} against the first`).toBeLessThanOrEqual(1.3);
    expect(share, `of the room, behind summary ${at + 1}`).toBeLessThanOrEqual(0.4);
  }
  expect(refused).toBe(0);
  expect(problems).toEqual([]);
  expect(twice).toEqual([]);
  // A paste may force a summary in pieces, which are not cached.
  if (!pastes) expect(Math.min(...cached)).toBeGreaterThanOrEqual(0.8);
  expect(readForSummary).toBeGreaterThanOrEqual(0.3);
}
