import { ways } from "./answers.ts";
import { type Outcome, play } from "./play.ts";
import type { Task } from "./task.ts";
import { tasks } from "./tasks.ts";

/** One or several tasks, with the result of each way. */
interface Row {
  readonly name: string;
  readonly outcomes: readonly Outcome[];
}

const SUMS: readonly (readonly [name: string, of: keyof Outcome])[] = [
  ["tokens that the model writes", "tokens"],
  ["tokens of the results that the model gets", "told"],
  ["model calls until the files are written", "steps"],
  ["bytes in wrong lines", "wrongBytes"],
  ["failures", "failures"],
];

/** Markdown tables: the sums over all tasks and by kind, and each task. */
interface EditTaskTables {
  readonly sums: string;
  readonly each: string;
}

/** Runs all tasks in all ways. */
export async function editTaskTables(): Promise<EditTaskTables> {
  const rows = new Map<Task, Row>();
  for (const task of tasks) {
    const outcomes: Outcome[] = [];
    for (const way of ways) outcomes.push(await play(task, way));
    rows.set(task, { name: task.name, outcomes });
  }
  const all = [...rows.values()];
  const kinds = Map.groupBy(rows, ([{ kind }]) => kind);
  const byKind = [...kinds].map(([kind, of]) => ({
    name: `${kind} (${of.length})`,
    outcomes: sums(of.map(([, row]) => row)),
  }));
  const each = [...kinds].flatMap(([kind, of]) => [
    `| *${kind}* |${" |".repeat(ways.length)}`,
    ...of.map(([, row]) => line(row)),
  ]);
  const sumsOfAll = [
    ...head(`all ${all.length} tasks`),
    ...SUMS.map(([name, of]) => `| ${[name, ...sums(all).map((outcome) => readable(outcome[of]))].join(" | ")} |`),
    "",
    ...head("tokens that the model writes, by kind"),
    ...byKind.map(line),
  ];
  return { sums: sumsOfAll.join("\n"), each: [...head("by task"), ...each].join("\n") };
}

function head(first: string): string[] {
  return [`| ${[first, ...ways.map(({ name }) => name)].join(" | ")} |`, `|---|${"---|".repeat(ways.length)}`];
}

/** Returns a row. The fewest tokens with a right result are bold. */
function line({ name, outcomes }: Row): string {
  const right = outcomes.filter(({ wrongBytes }) => wrongBytes === 0);
  const least = Math.min(...right.map(({ tokens }) => tokens));
  const cells = outcomes.map(({ tokens, wrongBytes, failures }) => {
    const wrong = wrongBytes > 0 ? `, ${readable(wrongBytes)} B wrong` : "";
    const failed = failures > 0 ? `, ${failures} failed` : "";
    const isLeast = wrongBytes === 0 && tokens === least;
    return `${isLeast ? `**${readable(tokens)}**` : readable(tokens)}${wrong}${failed}`;
  });
  return `| ${[name, ...cells].join(" | ")} |`;
}

function sums(rows: readonly Row[]): Outcome[] {
  return ways.map((_, way) => {
    const sum = (of: keyof Outcome) => rows.reduce((total, { outcomes }) => total + (outcomes[way]?.[of] ?? 0), 0);
    return {
      tokens: sum("tokens"),
      told: sum("told"),
      steps: sum("steps"),
      wrongBytes: sum("wrongBytes"),
      failures: sum("failures"),
    };
  });
}

function readable(value: number): string {
  return value.toLocaleString("en-GB");
}
