import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { PromptMessage } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { call, fail, type Scene, scriptedModel, spend, text } from "../testing/scripted-model.ts";

const textOf = ({ parts }: PromptMessage) => parts.map((part) => ("text" in part ? part.text : "")).join("");
const textsOf = (message: PromptMessage) => [
  textOf(message),
  ...(message.role === "assistant" ? message.results.map(({ output }) => output) : []),
];
const tokens = (messages: readonly PromptMessage[]) =>
  Math.ceil(messages.flatMap(textsOf).reduce((sum, { length }) => sum + length, 0) / 4);

let looked = 0;
const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  effects: "none",
  execute: () => String(++looked),
});

/** Results could be shortened without a summary (F91), but texts of the model cannot. */
const LONG = "Hm. ".repeat(250);

interface Turn {
  readonly words: string;
  readonly looks: number;
}

/** A request, and all texts of the user so far. */
interface Seen {
  readonly messages: readonly PromptMessage[];
  readonly said: readonly string[];
  readonly isFresh: boolean;
}

/** Plays turns in a window of this size, with useless summaries. */
async function play(
  window: number,
  turns: readonly Turn[],
  summary: string,
  background: boolean,
): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  const said: string[] = [];
  let left = 0;
  let before = "";
  const model = scriptedModel((request): Scene => {
    const input = tokens(request.messages);
    if (input > window) return [fail("context-overflow")];
    if (textOf(request.messages.at(-1) as PromptMessage).startsWith("Sum up the conversation")) {
      return [spend({ input, output: 5 }), text(summary)];
    }
    // The prompt array of a branch grows in place.
    const first = textOf(request.messages[0] as PromptMessage);
    const isFresh = first.startsWith("<summary-of-the-conversation-so-far>") && first !== before;
    before = first;
    seen.push({ messages: [...request.messages], said: [...said], isFresh });
    return [spend({ input, output: 5 }), ...(left-- > 0 ? [text(LONG), call("look")] : [text("Done.")])];
  });
  const compaction = { contextSize: window, background };
  const agent = new Agent({ model, tools: [look], compaction, limits: { repeats: 1_000 } });
  const session = Session.inMemory();
  for (const { words, looks } of turns) {
    said.push(words);
    left = looks;
    expect((await agent.send(words, { session })).text).toBe("Done.");
  }
  expect(checkConversation(session.state)).toEqual([]);
  return seen;
}

/** Compares shown words with the original: whole, cut in the middle, or different (`undefined`). */
function shownOf(words: string, shown: string): "whole" | "cut" | undefined {
  if (shown === words) return "whole";
  const [head = "", mark = "", tail = ""] = shown.split(/\n(\[… [\d,]+ characters are left out here …\])\n/);
  const missing = Number(/[\d,]+/.exec(mark)?.[0].replaceAll(",", ""));
  const fits = words.startsWith(head) && words.endsWith(tail) && head.length + tail.length + missing === words.length;
  return fits ? "cut" : undefined;
}

/** Returns the faults in the user's words of a request. */
function judged(window: number, background: boolean, { messages, said, isFresh }: Seen): string[] {
  const [first, ...rest] = messages;
  const behind = first ? textOf(first) : "";
  if (!behind.startsWith("<summary-of-the-conversation-so-far>")) return [];
  const problems: string[] = [];
  const block = /<words-of-the-user>[\s\S]*<\/words-of-the-user>/.exec(behind)?.[0] ?? "";
  const kept = [...block.matchAll(/<message>\n([\s\S]*?)\n<\/message>/g)].map(([, words = ""]) => words);
  const later = rest.filter(({ role }) => role === "user").map(textOf);
  const covered = said.length - later.length;
  if (JSON.stringify(later) !== JSON.stringify(said.slice(covered))) problems.push("a message is not whole");
  const places = kept.map((shown) => said.findIndex((words) => shownOf(words, shown) !== undefined));
  if (places.includes(-1)) problems.push("words that nobody wrote");
  if (places[0] !== 0) problems.push("the first message is gone");
  // The first message is followed by the newest ones, without a gap.
  const newest = places.slice(1);
  if (newest.some((place, index) => place !== covered - newest.length + index)) problems.push(`a gap in ${places}`);
  const counted = Number(/(\d+) other messages? of the user/.exec(block)?.[1] ?? 0);
  if (counted !== covered - kept.length) problems.push(`${counted} counted, of ${covered} with ${kept.length} kept`);
  const [all, one] = [window * 0.12, window * 0.03];
  if (block.length / 4 > all + 1) problems.push("the words take more than 12 %");
  if (kept.some((shown) => shown.length / 4 > one)) problems.push("one message takes more than a quarter of it");
  if (kept.some((shown, index) => shown.length < one && !said.includes(shown) && index > 0))
    problems.push("cut too short");
  // A message is left out only if it does not fit.
  const next = said[covered - newest.length - 1];
  if (counted > 0 && next !== undefined && block.length / 4 + Math.min(next.length / 4 + 12, one) < all - 40)
    problems.push("a message was left out that has room");
  // Unanswered messages, and messages that arrived during the summary (from 65 to 90 %), are not part of the 40 %.
  const most = background ? 0.4 + 0.25 : 0.4;
  const answered = messages.findLastIndex(({ role }) => role === "assistant");
  if (isFresh && tokens(messages.slice(0, answered)) > window * most) problems.push(`more than ${most} is left`);
  return problems;
}

test("F86: the words after a summary are the user's, in order, bounded and counted, in any window", async () => {
  let summaries = 0;
  const words = fc
    .array(fc.constantFrom("fig", "plum", "木", "👩‍👩‍👧", "e\u0301", "walnut", "\n"), {
      minLength: 1,
      maxLength: 150,
      size: "max",
    })
    .map((pieces) => `${pieces.join(" ")}.`);
  const turn = fc.record({ words, looks: fc.integer({ min: 0, max: 12 }) });
  const manyTurns = fc.array(turn, { minLength: 8, maxLength: 40 });
  const window = fc.constantFrom(3_000, 4_000, 8_000, 16_000);
  await fc.assert(
    fc.asyncProperty(window, manyTurns, fc.nat(40), fc.boolean(), async (size, turns, long, background) => {
      // Numbers make equal messages distinguishable.
      const own = turns.map((each, index) => ({ ...each, words: `${index}: ${each.words}` }));
      const seen = await play(size, own, `The work continues.${" On and on.".repeat(long)}`, background);
      summaries += seen.filter(({ isFresh }) => isFresh).length;
      expect(seen.flatMap((each) => judged(size, background, each))).toEqual([]);
    }),
    { numRuns: process.env.BANYAN_LONG === "1" ? 500 : 15, endOnFailure: true },
  );
  expect(summaries).toBeGreaterThan(20);
});
