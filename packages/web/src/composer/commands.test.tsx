import { describe, expect, it } from "vitest";
import type { Action } from "../palette/actions.tsx";
import { slashIn } from "../palette/slash-names.ts";
import { slashAct, slashCommands } from "./commands.ts";

const action = (slash: NonNullable<Action["slash"]>, name: string): Action => ({
  slash,
  name,
  run: (argument = "") => `${name}: ${argument}`,
});

const ACTIONS = [
  { name: "Light theme", run: () => undefined },
  action("retry", "Answer again"),
  action("changes", "Panel: Changes"),
];

describe("W65: what is written behind a slash", () => {
  it("is what the palette knows, in the order of /help, under each of its names", () => {
    expect(slashCommands(ACTIONS)).toEqual([
      { name: "/retry", words: ["/retry"], does: "Answer again [text]" },
      { name: "/changes", words: ["/changes", "/diff"], does: "Panel: Changes" },
    ]);
    for (const [line, done] of [
      ["/retry in other words ", "Answer again: in other words"],
      ["/DIFF", "Panel: Changes: "],
    ] as const) {
      const { word = "", argument = "" } = slashIn(line) ?? {};
      expect(slashAct(word, ACTIONS)(argument)).toBe(done);
    }
  });

  it("says where else what cannot be done here is done, what was meant, and when there is nothing to act on", () => {
    expect(slashAct("copy", ACTIONS)("")).toMatch(/below each message/);
    expect(slashAct("quit", ACTIONS)("")).toMatch(/conversation stays/);
    expect(() => slashAct("retyr", ACTIONS)).toThrow(/no command \/retyr here. Did you mean \/retry\? To say it/);
    expect(() => slashAct("compact", ACTIONS)).toThrow(/nothing to act on here/);
  });

  it("is a message where its first word is no name: the path of a file, or a line behind a blank", () => {
    for (const text of ["/etc/hosts says what?", " /retry", "a /retry", "/a.b"]) expect(slashIn(text)).toBeUndefined();
  });
});
