import { type AgentOptions, defineTool } from "@banyan/core";
import { type Beat, call, pause, scriptedModel, text } from "@banyan/core/testing";
import { BuiltPage } from "../built-page.ts";
import type { Measure } from "../measure.ts";

/** Milliseconds between two pieces of an answer, and letters of a piece. */
const PACE = 10;
const PIECE = 24;

/** The longest answers of models have about 100,000 letters. */
const SECTIONS = 60;

const HALF_AN_HOUR = 30 * 60_000;
/** Milliseconds until lazy modules are loaded and caches are full. */
const WARM = 5 * 60_000;

/** The page in Chromium while an agent works. */
export const pageAtWork: Measure = {
  name: "page-at-work",
  what: "the page in Chromium while an agent answers: the longest task and what moves by itself, in a conversation of short answers, changes and questions, and in one long answer; and its heap over half an hour of work",
  subjects: ["short answers", "a long answer", "half an hour"],
  whenNamed: ["half an hour"],
  bounds: [],
  figures: [
    { name: "longest task", unit: "ms" },
    { name: "layout shift", unit: "" },
    { name: "turns", unit: "" },
    { name: "heap after 5 minutes", unit: "MB" },
    { name: "heap at the end", unit: "MB" },
  ],
  targets: ["short answers", "a long answer", "half an hour"].flatMap((subject) => [
    { figure: "longest task", subject, most: 100 },
    { figure: "layout shift", subject, most: 0.05 },
  ]),
  rounds: 1,
  async run(subject) {
    const { page } = await BuiltPage.open(agent(subject === "a long answer" ? SECTIONS : 2), async () => {});
    await using _ = page;
    await page.watch();
    if (subject !== "half an hour") {
      for (let turn = 0; turn < (subject === "a long answer" ? 1 : 6); turn++) await say(page, "Once more.");
      const { longest, moved } = await page.seen();
      return { "longest task": longest, "layout shift": moved };
    }
    const began = performance.now();
    let warm = Number.NaN;
    let turns = 0;
    for (; performance.now() < began + HALF_AN_HOUR; turns++) {
      await say(page, "Once more.");
      if (Number.isNaN(warm) && performance.now() > began + WARM) warm = await page.heap();
    }
    const { longest, moved } = await page.seen();
    const heaps = { "heap after 5 minutes": warm, "heap at the end": await page.heap() };
    return { "longest task": longest, "layout shift": moved, turns, ...heaps };
  },
};

/** Sends a message, approves the call, and waits until the agent has ended. */
async function say({ tab }: BuiltPage, words: string): Promise<void> {
  await tab.locator("#composer").fill(words);
  await tab.locator("#composer").press("Enter");
  await tab.getByRole("button", { name: "Allow once" }).click({ timeout: 120_000 });
  await tab.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached", timeout: 600_000 });
}

/** Returns an agent that changes a file after approval, and answers with a number of sections. */
function agent(sections: number): AgentOptions {
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === "user"
      ? [...piece("I change the table first, and say then what it does."), call("edit", { path: "src/table.ts" })]
      : Array.from({ length: sections }, (_, at) => piece(section(at))).flat(),
  );
  const edit = defineTool({
    name: "edit",
    description: "Changes a file.",
    input: { type: "object" } as const,
    effects: "external",
    about: () => ({ paths: [{ path: "src/table.ts", access: "write" as const }] }),
    async execute(_, { changed }) {
      await changed({
        path: "src/table.ts",
        kind: "changed",
        before: "0",
        after: "1",
        added: 2,
        removed: 1,
        diff: DIFF,
      });
      return DIFF;
    },
  });
  return { model, tools: [edit], permission: () => ({ decision: "ask" }) };
}

function piece(words: string): Beat[] {
  const pieces = words.match(new RegExp(`[^]{1,${PIECE}}`, "g")) ?? [];
  return pieces.flatMap((each) => [text(each), pause(PACE)]);
}

/** Returns a section of some 1,600 letters with all kinds of content. */
function section(at: number): string {
  const lines = Array.from({ length: 12 }, (_, line) => `  sum += height(${line}, station.constants[${at}]);`);
  const rows = Array.from({ length: 6 }, (_, row) => `| station ${row} | ${row * at} m | **${row + at}** |`);
  return `## Part ${at + 1}

The *height* at an hour is the sum of all waves, of which \`${at}\` is one; [the almanac](https://almanac.example/${at}) has them all.
What is not told here is in the log, and the log is whole: nothing of it was left out, nothing was added.

1. Take the constants of the station.
2. Add them up:
   - those of the moon first,
   - those of the sun then.

\`\`\`ts
export function heightAt(station: Station, time: Date): number {
  let sum = 0;
${lines.join("\n")}
  return sum;
}
\`\`\`

| station | height | days |
|---|---:|---|
${rows.join("\n")}

> The moon is not late; the clock is.

`;
}

const DIFF = `@@ -11,2 +11,3 @@
   for (const tide of tides) {
-    const day = dayHere(tide);
+    const station = stationOf(tide);
+    const day = dayAt(station, tide);`;
