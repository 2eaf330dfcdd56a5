import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Item } from "./items.ts";
import { recalled, tellingTexts, userWordsIn } from "./judge.ts";
import { LongModel, type Reset } from "./long-model.ts";
import type { CompactingProgram } from "./programs/program.ts";
import { RAN, type ScriptOptions, scriptOf } from "./script.ts";
import { type Summariser, summarisers } from "./summarisers.ts";

export interface Plan extends ScriptOptions {
  readonly summariser: keyof typeof summarisers;
}

/** Measurements of the request after one summary. */
export interface Recall {
  readonly told: readonly Item[];
  readonly forgotten: readonly Item[];
  /** Tokens of the request without the messages that are not answered yet. */
  readonly tokens: number;
  /** The share of the room that these tokens take, without instructions and tools. */
  readonly share: number;
  /** Tells for each user message whether the request contains its text word for word. */
  readonly whole: readonly boolean[];
  /** Message counts that lines of the request name. */
  readonly counted: readonly number[];
}

/** Measurements of a whole conversation. */
export interface Played {
  readonly recalls: readonly Recall[];
  /** Reasons of failed turns. */
  readonly failed: readonly string[];
  /** The number of requests that were too long. */
  readonly refused: number;
  /** Faults that a provider refuses. */
  readonly problems: readonly string[];
  /** Numbers of work acts that ran more than once. */
  readonly twice: readonly string[];
  /** The cached share of each summary request. */
  readonly cached: readonly number[];
  /** Room that was read for one summary, as a share. */
  readonly readForSummary: number;
}

/** Failed turns after which a conversation is given up. */
const FAILURES = 3;

/** Plays the script of a plan with a program, in a separate folder. */
export async function play(program: CompactingProgram, plan: Plan): Promise<Played> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-compaction-")));
  try {
    return await playIn(root, program, plan);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

async function playIn(root: string, program: CompactingProgram, plan: Plan): Promise<Played> {
  const { window, seed, summariser } = plan;
  const script = scriptOf(plan);
  const [home, cwd] = [join(root, "home"), join(root, "work")];
  for (const folder of [home, cwd]) mkdirSync(folder);
  for (const [file, text] of Object.entries(script.files)) writeFileSync(join(cwd, file), text);
  const summarise = (summarisers[summariser] as (seed: number) => Summariser)(seed);
  await using model = await LongModel.start({ ...program, window, summarise });
  await using conversation = await program.begin({ url: model.url, window, home, cwd });
  const failed: string[] = [];
  for (const turn of script.turns) {
    model.begin(turn);
    const problem = await conversation.say(turn.says);
    if (problem !== undefined) failed.push(problem);
    else if (!model.ended) failed.push("The turn ended before the model had given its answer.");
    if (failed.length >= FAILURES) break;
  }
  const items = script.items.filter(program.has);
  const rooms = model.resets.map(({ head }) => window - head);
  return {
    recalls: model.resets.map((reset) => recallAt(reset, items, window)),
    failed,
    refused: model.refused,
    problems: model.problems,
    twice: repeatedIn(join(cwd, RAN)),
    cached: model.summaryRequests.map(({ cached }) => cached),
    readForSummary: model.readUntilSummary / Math.max(1, ...rooms) / Math.max(1, model.resets.length),
  };
}

function recallAt({ request, summaries, states, said, tokens, head }: Reset, items: readonly Item[], window: number) {
  const texts = tellingTexts(request, summaries);
  const planted = items.filter((item) => states.has(item));
  const told = recalled(planted, texts, (item) => states.get(item));
  return {
    told,
    forgotten: planted.filter((item) => !told.includes(item)),
    tokens,
    share: (tokens - head) / (window - head),
    ...userWordsIn(texts, said),
  };
}

/** Returns the lines that occur in a file more than once. */
function repeatedIn(file: string): string[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return lines.filter((line, at) => lines.indexOf(line) !== at);
}
