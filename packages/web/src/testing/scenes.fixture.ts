import { type Beat, call, fail, reasoning, type Scene, stall, text } from "@banyan/core/testing";

/** Further messages to the story's agent: each brings the page into a state. */
export const ASKED = {
  stream: "Explain how a tide table is made.",
  think: "Which of the two clocks is right?",
  watch: "Keep the tests running while I work.",
  failing: "Read the file of constants, and the log of yesterday.",
  form: "Set up the next release.",
  plan: "Plan the move of the buoys.",
  limit: "Read every station, one after the other.",
  refused: "Check the almanac against the harbour office.",
  brokenOff: "Summarise the whole log.",
  busy: "Is the weather service up?",
  rich: "Show me a tide as a formula, a diagram and a page.",
  remembered: "Which harbours matter to us?",
  locked: "What did we say about leap seconds?",
  serve: "Serve the page while we talk.",
  gauges: "Show me the gauges of Sydney and Brest, as they stand at",
  review: "Review these changes: @diff",
} as const;

const TABLE = `A tide table is made in four steps:

1. **Harmonic constants** of the station: some 37 pairs of an amplitude and a phase.
2. For each of them, the height at an hour: \`h(t) = A · cos(ωt − φ)\`.
3. The sum of all, of which the highest and lowest points are taken.
4. These are put under their days, **in the station's own time**.

\`\`\`ts
export function heightAt(station: Station, time: Date): number {
  return station.constants.reduce((sum, { amplitude, speed, phase }) => {
`;

const RICH = `A tide is a sum of waves, $h(t) = \\sum_i A_i \\cos(\\omega_i t - \\varphi_i)$, or with the mean:

$$
h(t) = h_0 + \\sum_{i=1}^{37} A_i \\cos\\left(\\omega_i t - \\varphi_i\\right)
$$

How a table comes about[^1]:

\`\`\`mermaid
graph LR
  C[Constants] --> S[Sum of waves]
  S --> P[Highest and lowest points]
  P --> T[Table by day]
\`\`\`

> The moon is not late; the clock is.

- [x] days of the station
- [ ] heights in feet
  - for the \`en-US\` locale

| station | constants | mean height | next high water |
|---|---:|---:|---|
| London Bridge | 37 | 3.51 m | 29 March 2026, 04:12 |
| Sydney, Fort Denison | 22 | 0.93 m | 30 March 2026, 01:10 |

A page that draws one:

\`\`\`html
<title>The tide of a day</title>
<style>body { font: 16px sans-serif; padding: 1rem }</style>
<h1>The tide of a day</h1>
<p>High water at 04:12 and 16:38.</p>
\`\`\`

[^1]: After the manual of the harbour office, chapter 3.`;

/** Two web images at a host: an existing one with a long address, and a missing one with a short address. */
export function gaugesAt(place: string): string {
  return `The gauge of **Fort Denison**, and that of Brest:

![A gauge at low water](${place}icon-192.png?station=${"fort-denison-".repeat(8)}sydney "Sydney, 29 March")

![The gauge of Brest](${place}assets/brest.png)

Both were taken at low water.`;
}

/** A log with many lines, of which the page shows the first. */
export const LOG = Array.from(
  { length: 400 },
  (_, line) =>
    `2026-03-${String(1 + (line % 28)).padStart(2, "0")}T04:12:00Z station ${100 + line} high water 3.${line % 90} m`,
).join("\n");

const step = (title: string, status: string) => ({ title, status });

/** The answers, by message. */
export const SCENES: Readonly<Record<string, readonly Scene[]>> = {
  [ASKED.stream]: [[said(TABLE), stall()]],
  [ASKED.think]: [
    [
      thought(
        "The server's clock is in UTC, the station's is not. A table is read at the station, so its day begins at the station's midnight. But the log has UTC,",
      ),
      stall(),
    ],
  ],
  [ASKED.watch]: [[said("I keep them running."), call("shell", { command: "npm test -- --watch" })]],
  [ASKED.failing]: [
    [said("I look at both."), call("read", { path: "src/constants.ts" }), call("read", { path: "log/tides.log" })],
    [said("The file of constants is not there any more; the log is whole.")],
  ],
  [ASKED.form]: [
    [
      call("ask_client", {
        question: "How shall the next release be made?",
        questions: [
          {
            heading: "Version",
            question: "Which number does it get?",
            choices: [
              { label: "2.5.0", description: "New: days of the station's own clock" },
              { label: "3.0.0", description: "Tables of before cannot be compared with it" },
            ],
          },
          {
            heading: "Stations",
            question: "For which of them?",
            several: true,
            choices: [{ label: "London" }, { label: "Sydney" }, { label: "Brest" }],
          },
        ],
      }),
    ],
  ],
  [ASKED.plan]: [
    [
      said("This is how I would go about it."),
      call("update_plan", {
        steps: [
          step("Look where buoys are read", "completed"),
          step("Make a table of their own, with a migration", "pending"),
          step("Move what reads them, file by file", "pending"),
          step("Remove the old columns", "pending"),
        ],
        hand_in: true,
      }),
    ],
  ],
  [ASKED.limit]: Array.from({ length: 9 }, () => [call("read", { path: "src/station.ts" })]),
  [ASKED.refused]: [
    [
      fail("authentication", {
        message: "The key of anthropic is wrong: set ANTHROPIC_API_KEY to another one.",
        status: 401,
      }),
    ],
  ],
  [ASKED.brokenOff]: [
    [
      said("In March 212 stations reported, of which three were late:"),
      fail("invalid-request", { message: "The request is longer than the model takes." }),
    ],
  ],
  [ASKED.busy]: [[fail("overloaded", { message: "The provider is overloaded.", status: 529, retryAfter: 60_000 })]],
  [ASKED.rich]: [[said(RICH)]],
  [ASKED.remembered]: [[said("London, Sydney and Brest: they have had tables since the beginning.")]],
  [ASKED.locked]: [[said("I do not know of anything that was said.")]],
  [ASKED.serve]: [
    [call("serve", { command: "npm run dev -- --port 5173" })],
    [said("It serves on port 5173, and goes on beside us.")],
  ],
  [ASKED.review]: [
    [said("- src/table.ts:14: the day is the server's\n- src/chart.ts:22: the same line again\n\nNot ready.")],
  ],
};

/** The memory entries for a message, or that memory cannot be read. */
export const MEMORY: Readonly<
  Record<string, "locked" | readonly { readonly text: string; readonly source: string }[]>
> = {
  [ASKED.remembered]: [
    { text: "The harbours that matter most are London, Sydney and Brest.", source: "said on 3 March 2026" },
    { text: "Tables are read on paper: at most 40 lines a page.", source: "a note in NOTES.md" },
  ],
  [ASKED.locked]: "locked",
};

/** Text, word by word. */
export function said(words: string): Beat {
  return text(...words.split(/(?<=\s)/));
}

/** Reasoning, word by word. */
export function thought(words: string): Beat {
  return reasoning(...words.split(/(?<=\s)/));
}
