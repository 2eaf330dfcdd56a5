import { type AgentOptions, askClient, defineTool, launchAgent } from "@banyan/core";
import type { ModelRequest } from "@banyan/core/drivers";
import { updatePlan } from "@banyan/core/hosts";
import { call, type Scene, scriptedModel, spend, stall } from "@banyan/core/testing";
import { ASKED, gaugesAt, LOG, MEMORY, SCENES, said, thought } from "./scenes.fixture.ts";

/** Milliseconds between two pieces of an answer. */
const PACE = 4;

/**
 * An agent with a story for screenshots: it finds a fault in a small program, and asks before it changes the file. Server, log
 * and page are real; the model follows this script.
 */
export function storyAgent(): AgentOptions {
  const looking = (name: string, answer: (input: Input) => string) =>
    defineTool({ name, description: name, input: ANYTHING, effects: "none", execute: (input: Input) => answer(input) });
  const tools = [
    looking(
      "search",
      () => "src/table.ts:14:  const day = date.getDate();\nsrc/chart.ts:22:  const day = date.getDate();",
    ),
    looking("read", ({ path = "" }) => {
      const file = FILES[path];
      if (file === undefined) throw new Error(`There is no file ${path} in /home/ada/tides.`);
      return file;
    }),
    defineTool({
      name: "edit",
      description: "Changes a file.",
      input: ANYTHING,
      effects: "external",
      about: ({ path = "" }: Input) => ({
        paths: [{ path, access: "write" as const }],
        change: { goes: "old_text", comes: "new_text" },
      }),
      preview({ path = "" }: Input) {
        const change = { kind: "changed", before: "0".repeat(64), after: "1".repeat(64) } as const;
        return { changes: [{ ...change, path, added: 2, removed: 1, diff: DIFF }] };
      },
      async execute({ path = "" }: Input, { changed }) {
        const change = { kind: "changed", before: "0".repeat(64), after: "1".repeat(64) } as const;
        await changed({ ...change, path, added: 2, removed: 1, diff: DIFF });
        return DIFF;
      },
    }),
    defineTool({
      name: "shell",
      description: "Runs a command.",
      input: ANYTHING,
      effects: "external",
      about: ({ command }: { command: string }) => ({ command }),
      async execute({ command }: { command: string }, { progress, signal }) {
        // Runs until the process is stopped.
        if (command.includes("--watch")) {
          progress("> tides@2.4.0 test\n> vitest --watch\n\n✓ test/chart.test.ts (3 tests) 12ms\n");
          await new Promise((_, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
          );
        }
        return RAN;
      },
    }),
    defineTool({
      name: "serve",
      description: "Goes on beside the conversation.",
      input: ANYTHING,
      effects: "external",
      about: ({ command }: { command: string }) => ({ command }),
      execute({ command }: { command: string }, { stay }) {
        const over = Promise.withResolvers<{ outcome: string }>();
        return stay({ title: command, over: over.promise, end: () => over.resolve({ outcome: "it was asked to" }) });
      },
    }),
    launchAgent(),
    updatePlan(),
    askClient(),
  ];
  return {
    name: "banyan",
    model: scriptedModel(sceneFor, { id: "demo/story", pace: PACE, price: { input: 3, output: 15, cached: 0.3 } }),
    tools,
    limits: { steps: 8, policy: "ask" },
    memory: { store: { recall: async (query) => recalledFor(query), remember: async () => {} } },
    permission({ tool, input }) {
      const { command = "" } = input as Input;
      if (tool.about?.(input).handsIn) return { decision: "ask" };
      if (tool.name === "edit") return { decision: "ask", pattern: "edit(src/**)" };
      return tool.name === "shell" && !command.includes("--watch")
        ? { decision: "ask", pattern: "shell(npm test*)" }
        : { decision: "allow" };
    },
  };
}

interface Input {
  readonly path?: string;
  readonly command?: string;
}

function recalledFor(query: string) {
  const found = Object.entries(MEMORY).find(([asked]) => query.includes(asked))?.[1] ?? [];
  if (found === "locked") throw new Error("the file of memories is locked by another program");
  return [...found];
}

const RAN = "✓ test/table.test.ts (8 tests) 41ms\n\nTest Files  1 passed (1)\n     Tests  8 passed (8)";

const ANYTHING = { type: "object" } as const;

/** The messages of the story. */
export const STORY = {
  wrongDay: "After midnight the tide table shows the wrong day. Find out why, and fix it.",
  zones: "Does it hold for stations in other time zones? Have both checked.",
  library: "Would a date library be the better way here?",
  temporal: "And with Temporal, without a library?",
  test: "Write a test for the day on which the clocks change.",
  chart: "The chart has the same line. Fix it there as well.",
  axis: "Mark midnight on the axis of the chart.",
  colour: "Shade the hours of the night, in both themes.",
  almanac: "Compare a whole year with the almanac.",
  leap: "What becomes of a leap second?",
} as const;

const ANSWERS: Readonly<Record<string, readonly Scene[]>> = {
  ...SCENES,
  [STORY.wrongDay]: [
    [
      thought(
        "The table groups high and low water by day. Which day is it: that of the station, or that of the server?",
      ),
      call("search", { pattern: "getDate", path: "src" }),
    ],
    [call("read", { path: "src/table.ts" })],
    [call("read", { path: "src/station.ts" }), call("read", { path: "test/table.test.ts" })],
    [
      said(`The day is taken from the clock of the **server**, not from that of the station:

\`\`\`ts
// src/table.ts
const day = date.getDate(); // the server's day
\`\`\`

A station in Sydney is ten hours ahead of one in London, so everything after 14:00 lands one day early. I take the day in the time zone of the station instead.`),
      call("edit", {
        path: "src/table.ts",
        old_text: "  const day = date.getDate();\n",
        new_text: "  const { timeZone } = station;\n  const day = dayIn(timeZone, date);\n",
      }),
    ],
    [said("Now the tests of the table."), call("shell", { command: "npm test -- table" })],
    [
      said(`Fixed. The table now asks for the day **where the water is**:

| station | 2026-03-29 14:10 UTC | before | now |
|---|---|---|---|
| London | 15:10 | 29 March | 29 March |
| Sydney | 01:10 | 29 March | **30 March** |

All eight tests of the table pass. \`src/chart.ts\` has the same line; say so, and I change it there as well.`),
    ],
  ],
  [STORY.zones]: [
    [
      said("Two checks that do not need each other, so I have them done side by side."),
      call("launch_agent", { task: "Check stations east of UTC", expected_output: "A list of wrong days" }),
      call("launch_agent", { task: "Check stations west of UTC", expected_output: "A list of wrong days" }),
    ],
    [said("Both agree: 212 stations, no wrong day.")],
  ],
  "Check stations east of UTC": [
    [call("read", { path: "src/station.ts" })],
    [said("I go through 118 stations, day by day."), call("shell", { command: "npm test -- zones --east" })],
    [said("118 stations, no wrong day."), call("finish_task", { result: "118 stations, no wrong day." })],
  ],
  "Check stations west of UTC": [
    [call("read", { path: "src/station.ts" })],
    [call("search", { pattern: "timeZone", path: "src" })],
    [said("94 stations west of UTC; I compare each with the almanac …"), stall()],
  ],
  [STORY.library]: [
    [
      said(`For one question, no. \`Intl.DateTimeFormat\` knows every time zone already:

\`\`\`ts
export function dayIn(timeZone: string, date: Date): number {
  const parts = new Intl.DateTimeFormat("en", { timeZone, day: "numeric" });
  return Number(parts.format(date));
}
\`\`\`

A library would add 18 kB for what these three lines do.`),
    ],
  ],
  [STORY.temporal]: [
    [said("`Temporal` says it best: `date.toZonedDateTimeISO(timeZone).day`. Node has it from version 26 on.")],
  ],
  [STORY.test]: [[said("Done: `on the day on which the clocks change, no hour is lost` in `test/table.test.ts`.")]],
  [STORY.chart]: [[said("The chart takes the day from the station now, too.")]],
  [STORY.axis]: [[said("Midnight is a line on the axis now, at the station's own hour.")]],
  [STORY.colour]: [[said("The night is shaded, with enough contrast for the labels in both themes.")]],
  [STORY.almanac]: [
    [said("A year of Brest, London and Sydney: 4,235 tides, and each stands on the day of the almanac.")],
  ],
  [STORY.leap]: [[said("Nothing: a tide is given to the minute.")]],
};

function sceneFor({ messages }: ModelRequest): Scene {
  const from = messages.findLastIndex(({ role }) => role === "user");
  const words = messages[from]?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
  const [, answers] = Object.entries(ANSWERS).find(([asked]) => words.includes(asked)) ?? [];
  const [, place] = words.split(`${ASKED.gauges} `);
  const told = place === undefined ? answers?.[messages.length - 1 - from] : gaugesAt(place);
  const scene = told ?? "I have nothing more to say.";
  const beats = typeof scene === "string" ? [said(scene)] : scene;
  const input = 3_200 + 640 * messages.length;
  return [...beats, spend({ input, cached: input - 610, output: 180 + 40 * messages.length, reasoning: 60 })];
}

const FILES: Readonly<Record<string, string>> = {
  "src/table.ts": `export function tableOf(station: Station, tides: readonly Tide[]) {
  const days = new Map<number, Tide[]>();
  for (const { date } of tides) {
    const day = date.getDate();
  }
}`,
  "src/station.ts": "export interface Station {\n  readonly name: string;\n  readonly timeZone: string;\n}",
  "log/tides.log": LOG,
  "test/table.test.ts": 'test("high water stands below its day", () => {});',
};

const DIFF = `--- a/src/table.ts
+++ b/src/table.ts
@@ -11,6 +11,7 @@ export function tableOf(station: Station, tides: readonly Tide[]) {
   const days = new Map<number, Tide[]>();
   for (const tide of tides) {
-    const day = tide.date.getDate();
+    const { timeZone } = station;
+    const day = dayIn(timeZone, tide.date);
     days.set(day, [...(days.get(day) ?? []), tide]);
   }
   return days;`;
