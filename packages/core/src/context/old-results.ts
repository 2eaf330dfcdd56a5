import { type AssistantMessage, type Call, outputForModel, type ShortenedResult } from "../conversation/message.ts";
import { counted, formatCount } from "../conversation/shown/amounts.ts";
import { cutTo } from "../conversation/shown/visible-text.ts";
import { afterSummary } from "../conversation/tree/path.ts";
import type { TurnRun } from "../run/run.ts";
import { contextRoom, countTokens } from "./behind-summary.ts";
import { addShortening } from "./cut-results.ts";
import { EARLIER } from "./earlier.ts";

/** Share of the room that old results must free to be shortened without a summary. */
const WORTH = 0.3;

/** Share of the room up to which the newest results stay whole. */
const NEWEST = 0.1;

/** Results of at most this many UTF-16 units are not shortened. */
const SHORT = 500;

/**
 * Shortens old results if that frees 30 % of the context and at least `needed` tokens. Returns true if any was
 * shortened.
 */
export async function shortenResults(run: TurnRun, needed: number): Promise<boolean> {
  const { results, freed } = await oldResults(run);
  if (freed < needed || !(await isWorth(run, freed))) return false;
  const text = `Shortened ${counted(results.length, "old result")} of calls for the model, which frees about ${formatCount(freed)} tokens. The log keeps the full results.`;
  await addShortening(run, text, results);
  return true;
}

/** Returns true if no summary is needed, because shortened results free enough tokens. */
export async function oldResultsSuffice(run: TurnRun): Promise<boolean> {
  return isWorth(run, (await oldResults(run)).freed);
}

async function isWorth(run: TurnRun, freed: number): Promise<boolean> {
  return freed >= WORTH * (await contextRoom(run));
}

interface OldResults {
  readonly results: readonly ShortenedResult[];
  readonly freed: number;
}

/**
 * Returns the results to shorten, oldest first: all results that the model has read except the newest, and results of
 * `read` for a file that was read again later. With `covers`, only results after that message.
 */
export async function oldResults(run: TurnRun, covers?: string): Promise<OldResults> {
  const { path } = run.branch;
  const left = new Set(path.slice(path.findIndex(({ id }) => id === covers) + 1).map(({ id }) => id));
  const shown = afterSummary(path).filter((message) => message.role === "assistant" && left.has(message.id));
  const room = await contextRoom(run);
  const later = new Map<string, Call[]>();
  const results: ShortenedResult[] = [];
  let newest = NEWEST * room;
  let freed = 0;
  for (const [index, message] of shown.toReversed().entries()) {
    for (const call of (message as AssistantMessage).calls.toReversed()) {
      const place = placeRead(call);
      const reads = later.get(place ?? "") ?? [];
      // The model has not read the results of the last response yet.
      if (index > 0 && (outputForModel(call).length > SHORT || call.files)) {
        const tokens = await countTokens(run, outputForModel(call));
        newest -= tokens;
        const isReadAgain = reads.some((read) => coversAll(read, call));
        if (newest < 0 || isReadAgain) {
          const text = shortText(run, call, isReadAgain);
          results.push({ call: call.id, text });
          freed += tokens - (await countTokens(run, text));
        }
      }
      if (place !== undefined && call.status === "completed") later.set(place, [...reads, call]);
    }
  }
  return { results: results.reverse(), freed };
}

/** True if a call has read all that an earlier call read of a file: the same arguments, or the whole file. */
function coversAll(later: Call, earlier: Call): boolean {
  const [input, before] = [later, earlier].map(({ executedInput, input = {} }) => executedInput ?? input);
  return Object.keys(input as object).length === 1 || JSON.stringify(input) === JSON.stringify(before);
}

function placeRead({ tool, about }: Call): string | undefined {
  const [place, ...others] = about?.paths ?? [];
  const isRead = place?.access === "read" && others.length === 0 && about?.command === undefined;
  return isRead ? `${tool} ${place.path}` : undefined;
}

const TITLE = 100;

function shortText({ agent: { toolbox } }: TurnRun, call: Call, isReadAgain: boolean): string {
  const { tool, about, files = [] } = call;
  const title = (about?.title ?? about?.paths?.[0]?.path ?? "").replace(/\s+/g, " ").trim();
  const what = `the result of ${tool}${title === "" ? "" : ` (${cutTo(title, TITLE)})`}`;
  const size = `${counted(outputForModel(call).length, "character")}${files.length === 0 ? "" : ` and ${counted(files.length, "file")}`}`;
  const again = isReadAgain ? " A newer call has read the same." : "";
  const readers = toolbox.earlierReaders.join(" or ");
  const how = readers === "" ? "" : ` To see it whole, use ${readers} with ${EARLIER}${call.id}.`;
  return `[Shortened: ${what}, ${size}.${again}${how}]`;
}
