import type { AssistantMessage, Call, ShortenedResult } from "../conversation/message.ts";
import { counted, formatCount } from "../conversation/shown/amounts.ts";
import { cutTo } from "../conversation/shown/visible-text.ts";
import { afterSummary } from "../conversation/tree/path.ts";
import type { TurnRun } from "../run/run.ts";
import { countTokens, roomOf } from "./behind-summary.ts";
import { putShortening } from "./cut-results.ts";
import { EARLIER } from "./earlier.ts";

/** Old results are shortened without a summary when that frees this share of the room. */
const WORTH = 0.3;

/** The newest results stay whole, as far as they take this share of the room. */
const NEWEST = 0.1;

/** UTF-16 units of a result that is not worth shortening. */
const SHORT = 500;

/**
 * Shortens old results of calls, as an event of the branch, when that alone frees enough: 30 % of the room, and `needed` tokens.
 * Returns whether it did. Rejects with the signal's reason when the run is aborted.
 */
export async function shortenResults(run: TurnRun, needed: number): Promise<boolean> {
  const { results, freed } = await oldResults(run);
  if (freed < needed || !(await isWorth(run, freed))) return false;
  const text = `${counted(results.length, "old result")} of calls shortened for the model: that frees about ${formatCount(freed)} tokens. The log keeps all of it.`;
  await putShortening(run, text, results);
  return true;
}

/** Returns whether old results alone free enough, so that no summary is needed. */
export async function freesEnough(run: TurnRun): Promise<boolean> {
  return isWorth(run, (await oldResults(run)).freed);
}

async function isWorth(run: TurnRun, freed: number): Promise<boolean> {
  return freed >= WORTH * (await roomOf(run));
}

/** Results to shorten, the oldest first, and the tokens that this frees. */
interface OldResults {
  readonly results: readonly ShortenedResult[];
  readonly freed: number;
}

/**
 * The results that the model is shown shortened when room is needed: those that it has read, but for the newest, and reads of
 * a file that was read again since. With `covers` those alone that a summary down to that message leaves.
 */
export async function oldResults(run: TurnRun, covers?: string): Promise<OldResults> {
  const { path } = run.branch;
  const left = new Set(path.slice(path.findIndex(({ id }) => id === covers) + 1).map(({ id }) => id));
  const shown = afterSummary(path).filter((message) => message.role === "assistant" && left.has(message.id));
  const room = await roomOf(run);
  const later = new Map<string, Call[]>();
  const results: ShortenedResult[] = [];
  let newest = NEWEST * room;
  let freed = 0;
  for (const [index, message] of shown.toReversed().entries()) {
    for (const call of (message as AssistantMessage).calls.toReversed()) {
      const place = placeRead(call);
      const reads = later.get(place ?? "") ?? [];
      // Nobody has read the results of the last response yet.
      if (index > 0 && (outputOf(call).length > SHORT || call.files)) {
        const tokens = await countTokens(run, outputOf(call));
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

const outputOf = ({ output = "" }: Call) => output;

/** Returns whether a call has read all that an earlier call read of a file: the same place, or the whole file. */
function coversAll(later: Call, earlier: Call): boolean {
  const [input, before] = [later, earlier].map(({ executedInput, input = {} }) => executedInput ?? input);
  return Object.keys(input as object).length === 1 || JSON.stringify(input) === JSON.stringify(before);
}

/** The tool and the file of a call that reads a file, and does nothing else. */
function placeRead({ tool, about }: Call): string | undefined {
  const [place, ...others] = about?.paths ?? [];
  const isRead = place?.access === "read" && others.length === 0 && about?.command === undefined;
  return isRead ? `${tool} ${place.path}` : undefined;
}

/** UTF-16 units of what a call is about that stand in the line of its result. */
const TITLE = 100;

function shortText({ agent: { toolbox } }: TurnRun, call: Call, isReadAgain: boolean): string {
  const { tool, about, output = "", files = [] } = call;
  const title = (about?.title ?? about?.paths?.[0]?.path ?? "").replace(/\s+/g, " ").trim();
  const what = `the result of ${tool}${title === "" ? "" : ` (${cutTo(title, TITLE)})`}`;
  const size = `${counted(output.length, "character")}${files.length === 0 ? "" : ` and ${counted(files.length, "file")}`}`;
  const again = isReadAgain ? " A newer call has read the same." : "";
  const readers = toolbox.earlierReaders.join(" or ");
  const how = readers === "" ? "" : ` To see it whole, use ${readers} with ${EARLIER}${call.id}.`;
  return `[Shortened: ${what}, ${size}.${again}${how}]`;
}
