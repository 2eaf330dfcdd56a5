import { beforeEach, describe, expect, test } from "vitest";
import { createTheme } from "../theme/theme.ts";
import { AnswerBlock } from "./answer-block.ts";
import type { BlockLines, BlockLook, TranscriptBlock } from "./block.ts";
import { TextBlock } from "./block.ts";
import { ThoughtBlock } from "./thought-block.ts";
import { Transcript } from "./transcript.ts";

const look: BlockLook = { theme: createTheme(1, "dark"), links: false, width: 40, room: 10, now: 0, openKey: "Ctrl-O" };

/** A block that is done on request. */
class Slow implements TranscriptBlock {
  readonly isApart = false;
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
  transcript = new Transcript();
});

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

  test("sets blocks that stand apart apart by one empty line, also when they are finished bit by bit", () => {
    const answer = new AnswerBlock();
    transcript.add(new TextBlock(() => ["one"], true));
    transcript.add(answer);
    answer.push("\n\nfirst\n\nsec");
    expect(transcript.show(look)).toEqual({ finished: ["one", "", "first"], open: ["", "sec"] });
    transcript.add(new TextBlock(() => ["two"], true));
    expect(transcript.show(look).open).toEqual(["", "sec", "", "two"]);
    answer.push("ond");
    answer.end();
    expect(transcript.show(look)).toEqual({ finished: ["", "second", "", "two"], open: [] });
  });

  test("folds a thought into a line when it is over; all of it can be opened", () => {
    const thought = new ThoughtBlock();
    transcript.add(thought);
    thought.push("First this,\nthen \x1b[31mthat. ".repeat(20));
    expect(transcript.show(look).open).toHaveLength(3);
    thought.end();
    const { finished } = transcript.show(look);
    expect(finished).toEqual([expect.stringMatching(/^• thought(?:, \d\.\d s)? \(Ctrl-O shows it\)$/)]);
    expect(thought.lines(40, look.theme).join(" ")).toMatch(/^First this, then that\. First/);
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
