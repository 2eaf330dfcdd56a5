import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FRAME_TIME } from "./screen/frames.ts";
import { open } from "./testing/opened.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** An answer of 8.4 kB, as models write them: headings, prose, lists, code and a table. */
const ANSWER = Array.from({ length: 9 }, (_, part) => section(part + 1))
  .join("\n")
  .slice(0, 8_400);

function section(number: number): string {
  const code = `\`\`\`ts
export function checked(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(\`There is no value for \${name}.\`);
  const trimmed = value.trim();
  if (trimmed === "") throw new Error(\`The value for \${name} is empty.\`);
  return trimmed;
}
\`\`\`
`;
  const table = `| file | change | lines |
|------|--------|-------|
| src/parser/read.ts | the check stands first | 12 |
| src/settings/merge.ts | the defaults come from the new settings | 7 |
`;
  return `## ${number}. Where the check belongs

The check comes too late, **after** the value was used, so that \`undefined\` reaches the parser. The check has to stand
first, before anything else is done with the value, and the message has to say what was expected, and what was found
instead of that. Each caller then gets the same message, and none of the callers needs a check of its own. A test for each
of the two cases keeps the order of both steps as they are now.

These are the places where the order of the steps is wrong – the others are right:

- \`read\` in \`src/parser/read.ts\` parses the text before the length is known, and fails in the middle of a word.
- \`merge\` takes the defaults from the **old** settings, although the new ones were read already.
- The command line never reaches the second check.

${number % 2 === 1 ? code : number === 4 ? table : "Nothing else in these files depends on the order of the two steps.\n"}`;
}

/** Milliseconds between two deltas of four characters: 125 tokens a second. */
const PACE = 8;

/** Streams the answer into a terminal of 80 by 24 with 256 colours. Returns the number of written bytes, and the lines. */
async function streamed(env: NodeJS.ProcessEnv): Promise<{ bytes: number; lines: readonly string[] }> {
  const here = open(80, 24, { COLORFGBG: "15;0", ...env }, 8);
  const { screen } = here;
  void here.reads();
  here.begins("tell me");
  await vi.advanceTimersByTimeAsync(FRAME_TIME * 2);
  const before = Buffer.byteLength(screen.raw);
  for (const text of ANSWER.match(/.{1,4}/gs) ?? []) {
    here.happens({ type: "text.delta", message: "a", part: 0, text });
    await vi.advanceTimersByTimeAsync(PACE);
  }
  here.happens({ type: "run.ended", run: "r", reason: "answered", leaf: "a" });
  await vi.advanceTimersByTimeAsync(FRAME_TIME * 2);
  return { bytes: Buffer.byteLength(screen.raw) - before, lines: screen.lines };
}

test("V11: an answer of 8.4 kB takes less than 25 kB of output, and looks the same as where lines are written twice", async () => {
  expect(ANSWER).toHaveLength(8_400);
  const [here, elsewhere] = [await streamed({}), await streamed({ SSH_TTY: "/dev/pts/0" })];
  expect(here.bytes).toBeLessThan(25_000);
  expect(elsewhere.bytes).toBeLessThan(55_000);
  expect(here.lines).toEqual(elsewhere.lines);
});
