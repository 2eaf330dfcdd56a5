// Draws docs/branches.svg, the animation in docs/working-with-branches.md, from the bytes of a real run in a real git
// repository: three models fix one bug in a worktree each, the results are compared, one is brought over, and the
// test runs. The models follow a script; their changes and the test results are real. Run: `npm run picture`.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { modelServer, type ServerAnswer, shell } from "../model-server.ts";
import { film } from "./film.ts";
import { Recording } from "./recording.ts";

const [columns, rows] = [100, 34];
const PROMPT = /Reply to \S+: ─+\n\s*\n?chat · /;
const MODELS = ["oak", "birch", "elm"] as const;
type Model = (typeof MODELS)[number];
const named = (model: string) => `openai-compatible/${model}`;
const root = fileURLToPath(new URL("../../../../..", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "banyan-branches-"));
const workspace = mkdtempSync(join(tmpdir(), "garden-"));

const days = `/** Whole days from one day to another, as in the calendar of a place. */
export function daysBetween(first, second) {
  return Math.floor((second - first) / 86_400_000);
}
`;
const test = `import assert from "node:assert/strict";
import test from "node:test";
import { daysBetween } from "./days.js";

process.env.TZ = "Europe/Berlin";

test("the week in which the clocks go forward has seven days", () => {
  assert.equal(daysBetween(new Date(2026, 2, 25), new Date(2026, 3, 1)), 7);
});

test("from an evening to the next morning is a day", () => {
  assert.equal(daysBetween(new Date(2026, 0, 1, 20), new Date(2026, 0, 2, 7)), 1);
});
`;

/** Each model's fix of the wrong line. */
const MENDED: Readonly<Record<Model, readonly [why: string, code: string]>> = {
  oak: [
    "A day in the calendar may have 23 or 25 hours. I count days of the calendar, by midnight in UTC.",
    `  const noon = (day) => Date.UTC(day.getFullYear(), day.getMonth(), day.getDate());
  return (noon(second) - noon(first)) / 86_400_000;`,
  ],
  birch: [
    "The week has an hour less. Rounding takes care of it.",
    "  return Math.round((second - first) / 86_400_000);",
  ],
  elm: ["I add the hour that is missing.", "  return Math.floor((second - first + 3_600_000) / 86_400_000);"],
};
const LINE = "  return Math.floor((second - first) / 86_400_000);";
const TEST = "node --test --test-reporter=dot";
/** The user's messages, in order. */
const ASKED = ["Why does a test fail?", "Mend it, and test it.", "Test it here."] as const;
const FOUND = "The week in which the clocks go forward has six days: `daysBetween` counts in steps of 24 hours.";

/** The responses of a model to a message, step by step. */
function scriptOf(model: Model, words: string): readonly ServerAnswer[] {
  if (words.includes(ASKED[0]))
    return [
      { ...shell(TEST), tokens: [6_100, 40] },
      { ...said(FOUND), tokens: [6_300, 50] },
    ];
  if (words.includes(ASKED[2]))
    return [
      { ...shell(TEST), tokens: [9_900, 40] },
      { ...said("Both tests pass here, too."), tokens: [10_000, 12] },
    ];
  const [why, code] = MENDED[model];
  const isGood = model === "oak";
  const pace = { oak: 150, birch: 170, elm: 190 }[model];
  const size = { oak: 9_400, birch: 7_100, elm: 6_600 }[model];
  const edit = { path: "days.js", old_text: LINE, new_text: code };
  return [
    { calls: [{ tool: "read", input: { path: "days.js" } }], tokens: [size, 60] },
    { ...said(why), pace, calls: [{ tool: "edit", input: edit }], tokens: [size + 400, 190] },
    { ...shell(TEST), tokens: [size + 700, 40] },
    {
      ...said(isGood ? "Both tests pass." : "The first test passes now, and the second one fails."),
      pace,
      tokens: [size + 900, 30],
    },
  ];
}

/** Text in pieces as a model streams it. */
function said(text: string) {
  return { text: text.match(/\s*\S+/g)?.concat("\n") ?? [], pace: 50 };
}

try {
  mkdirSync(join(home, "banyan", "config"), { recursive: true });
  mkdirSync(join(home, "banyan", "state"));
  for (const once of ["welcomed", "memory-offered"]) writeFileSync(join(home, "banyan", "state", once), "");
  const models = Object.fromEntries(
    MODELS.map((model, index) => [named(model), { price: { input: 5 - 2 * index, output: 20 }, contextSize: 200_000 }]),
  );
  const permissions = { allow: [`shell(${TEST})`] };
  const settings = { models, approval: "edits", permissions, sandbox: { enabled: "off" } };
  writeFileSync(join(home, "banyan", "config", "settings.json"), JSON.stringify(settings));
  writeFileSync(join(workspace, "days.js"), days);
  writeFileSync(join(workspace, "days.test.js"), test);
  writeFileSync(join(workspace, "package.json"), `{ "type": "module" }\n`);
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=you", "-c", "user.email=you@example.com", ...args], { cwd: workspace });
  for (const line of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-qm", "Days"],
  ])
    git(...line);
  await using server = await modelServer(({ model, messages }) => {
    const asked = messages.findLastIndex(({ role }) => role === "user");
    const words = JSON.stringify(messages[asked]?.content);
    const step = messages.slice(asked).filter(({ role }) => role === "assistant").length;
    return scriptOf(model as Model, words)[step] ?? {};
  });
  using terminal = new Recording({
    columns,
    rows,
    folder: home,
    env: {
      ...server.env,
      PATH: process.env.PATH ?? "",
      HOME: home,
      BANYAN_HOME: join(home, "banyan"),
      BANYAN_NO_DISCOVERY: "1",
      COLORTERM: "truecolor",
      LANG: "C.UTF-8",
    },
    command: [process.execPath, join(root, "packages/cli/src/main.ts"), "--cwd", workspace, "--model", named("oak")],
  });
  await terminal.until(PROMPT);
  await terminal.hold(900);
  const enter = async (line: string) => {
    await terminal.type(line);
    await terminal.hold(500);
    terminal.press("Enter");
  };
  await enter(ASKED[0]);
  await terminal.until(/steps of 24 hours/);
  await terminal.until(PROMPT);
  await terminal.hold(1_800);
  await enter(`/fan ${MODELS.map(named).join(",")} ${ASKED[1]}`);
  await terminal.until(/Asked 3 branches/);
  await terminal.hold(2_500);
  // While the models work.
  await sleep(2_000);
  await enter("/compare");
  await terminal.until(/elm +works/);
  await terminal.hold(4_000);
  await sleep(6_000);
  await enter("/compare");
  await terminal.until(/oak +answered[\s\S]*elm +answered/);
  await terminal.hold(6_000);
  await enter("/bring 1");
  await terminal.until(/changed days.js \(\+2 -1\)/);
  await terminal.until(PROMPT);
  await terminal.hold(5_000);
  await enter(ASKED[2]);
  await terminal.until(/pass here, too/);
  await terminal.until(PROMPT);
  await terminal.hold(100);
  const title =
    "Three models mend one bug, each in a git worktree of its own; they are compared, and one is brought over";
  writeFileSync(join(root, "docs/branches.svg"), film(await terminal.stills(), { columns, rows, title, last: 4_000 }));
} finally {
  for (const folder of [home, workspace]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
