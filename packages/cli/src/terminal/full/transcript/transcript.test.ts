import type { Call } from "@banyan/core/conversation";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createTheme } from "../theme/theme.ts";
import { AnswerBlock } from "./answer-block.ts";
import type { BlockLines, BlockLook, TranscriptBlock } from "./block.ts";
import { TextBlock } from "./block.ts";
import { CallBlock } from "./call-block.ts";
import { ThoughtBlock } from "./thought-block.ts";
import { Transcript } from "./transcript.ts";

const look: BlockLook = { theme: createTheme(1, "dark"), links: false, width: 40, room: 10, now: 0, openKey: "Ctrl-O" };

/** A block that is done on request. */
class Slow implements TranscriptBlock {
  readonly author = "agent";
  isDone = false;
  #isShown = false;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  show(): BlockLines {
    if (!this.isDone) return { finished: [], open: [`${this.#name} …`] };
    const finished = this.#isShown ? [] : [`${this.#name} done`];
    this.#isShown = true;
    return { finished, open: [] };
  }
}

let transcript: Transcript;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  transcript = new Transcript();
});
afterEach(() => void vi.useRealTimers());

const lines = (...said: string[]) => new TextBlock(() => said);

/** A call in its state, and its block. */
function called(
  tool: string,
  one?: string,
): { readonly call: { -readonly [Key in keyof Call]: Call[Key] }; readonly block: CallBlock } {
  const about = one === undefined ? { command: tool } : { title: tool, looksAt: { one, several: `${one}s` } };
  const call = {
    id: tool,
    tool,
    inputText: "{}",
    input: {},
    about,
    status: "executing",
    attempt: 1,
    progress: "",
  } as const;
  const mutable = { ...call, startedAt: 1 } as Call;
  return { call: mutable, block: new CallBlock(mutable) };
}

describe("T20: the transcript", () => {
  test("finishes blocks in order: what is done below an open one waits for it, in sight", () => {
    const [first, second] = [new Slow("first"), new Slow("second")];
    transcript.add(first);
    transcript.add(second);
    transcript.add(new TextBlock(() => ["said"]));
    second.isDone = true;
    expect(transcript.show(look)).toEqual({ finished: [], open: ["first …", "second done", "said"] });
    expect(transcript.show(look).finished).toEqual([]);
    first.isDone = true;
    expect(transcript.show(look)).toEqual({ finished: ["first done", "second done", "said"], open: [] });
    expect(transcript.show(look)).toEqual({ finished: [], open: [] });
  });

  test("T68: has empty lines only between the user and the agent, also when an answer is finished bit by bit", () => {
    const answer = new AnswerBlock();
    transcript.add(new TextBlock(() => ["one"], "user"));
    transcript.add(lines("attached: a.txt"));
    transcript.add(answer);
    answer.push("\n\nfirst\n\nsec");
    expect(transcript.show(look)).toEqual({ finished: ["one", "attached: a.txt", "", "first"], open: ["", "sec"] });
    transcript.add(new TextBlock(() => ["two"], "user"));
    expect(transcript.show(look).open).toEqual(["", "sec", "", "two"]);
    answer.push("ond");
    answer.end();
    expect(transcript.show(look)).toEqual({ finished: ["", "second", "", "two"], open: [] });
    for (const said of ["It is", "done"]) transcript.add(new TextBlock(() => [said], "agent"));
    transcript.add(lines("12 s"));
    expect(transcript.show(look).finished).toEqual(["", "It is", "done", "12 s"]);
  });

  test("T68: a thought is one line when it is over, and none if it took less than two seconds; all of it can be opened", () => {
    for (const [time, shown] of [
      [1_999, []],
      [4_000, ["• thought, 4.0 s (Ctrl-O shows it)"]],
    ] as const) {
      const thought = new ThoughtBlock();
      transcript.add(thought);
      thought.push("First this,\nthen \x1b[31mthat. ".repeat(20));
      expect(transcript.show(look).open).toHaveLength(3);
      vi.advanceTimersByTime(time);
      thought.end();
      transcript.add(lines("next"));
      expect(transcript.show(look).finished).toEqual([...shown, "next"]);
      expect(thought.lines(40, look.theme).join(" ")).toMatch(/^First this, then that\. First/);
    }
  });

  test("T68: neighbours that only read are one line, which is final when something else follows", () => {
    const [one, two, search] = [called("a", "file"), called("b", "file"), called("oak", "search")];
    for (const { block } of [one, two, search]) transcript.add(block);
    Object.assign(one.call, { status: "completed", output: "1\tx\n2\ty\n[b goes on]\n", endedAt: 1 });
    Object.assign(search.call, { status: "completed", output: "a:1:oak\n", endedAt: 1 });
    // A running call is not folded, and the lines of its neighbours wait in order.
    expect(transcript.show(look)).toEqual({
      finished: [],
      open: ["• a  a … done", expect.stringContaining("• b  b … running"), "• oak  oak … done"],
    });
    Object.assign(two.call, { status: "completed", output: "1\tx\n", endedAt: 1 });
    const wide = { ...look, width: 80 };
    const line = "• Read 2 files (3 lines), searched once (1 hit) (Ctrl-O shows them)";
    expect(transcript.show(wide)).toEqual({ finished: [], open: [line] });
    const empty = new AnswerBlock();
    transcript.add(empty);
    empty.push("\n");
    expect(transcript.show(wide).open).toEqual([line]);
    empty.end();
    transcript.add(called("ls").block);
    expect(transcript.show(wide).finished).toEqual([line]);
  });

  test("T68: a failed call stays on lines of its own, and separates its neighbours", () => {
    const calls = ["a", "b", "c", "d", "e"].map((name) => called(name, "file"));
    for (const [index, { call, block }] of calls.entries()) {
      transcript.add(block);
      Object.assign(call, {
        status: index === 2 ? "failed" : "completed",
        output: index === 2 ? "gone" : "1\tx",
        endedAt: 1,
      });
    }
    transcript.add(lines("end"));
    const wide = { ...look, width: 80, openKey: undefined };
    const read = "• Read 2 files (2 lines)";
    expect(transcript.show(wide).finished).toEqual([read, "• c  c … failed", "    gone", read, "end"]);
  });
});

test("E3: the new problems of complete blocks are below a streaming answer, and vanish with its end", () => {
  const answer = new AnswerBlock();
  answer.push("Now the file:\n");
  const problems = ["a.ts:2: error: No."];
  answer.capture({ index: 0, path: "a.ts", text: "", problems: ["a.ts:1: error: No.", ...problems] });
  answer.capture({ index: 1, path: "a.ts", text: "", problems });
  expect(answer.show(look).open.slice(-1)).toEqual([expect.stringContaining("a.ts:2: error: No.")]);
  answer.push("That was it.\n");
  answer.end();
  const { finished, open } = answer.show(look);
  expect([...finished, ...open].join("\n")).not.toContain("error");
});
