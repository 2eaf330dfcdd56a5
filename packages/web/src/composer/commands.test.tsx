import { slashIn } from "@banyan/client/words";
import { describe, expect, it } from "vitest";
import type { PaletteAction } from "../parts/page/actions.tsx";
import { filledPrompt } from "./own.ts";
import { promptLine, type ServerPrompt } from "./server-prompts.ts";
import { offeredPrompts, promptIn, slashAct, slashCommands } from "./slash-lines.ts";
import { commandsFor } from "./use-suggestions.ts";

const action = (slash: NonNullable<PaletteAction["slash"]>, name: string): PaletteAction => ({
  slash,
  name,
  run: (argument = "") => `${name}: ${argument}`,
});

const ACTIONS = [
  { name: "Light theme", run: () => undefined },
  action("retry", "Answer again"),
  action("changes", "Panel: Changes"),
];

const USER = { client: "page", rights: ["show", "watch", "act"], prompts: [] as readonly string[] } as const;
const act = (line: string, prompts: readonly string[] = []) => slashAct(line, ACTIONS, { ...USER, prompts })?.();

describe("W65: commands after a slash", () => {
  it("are the palette's actions, in the order of /help, under each of their names", () => {
    expect(slashCommands(ACTIONS, USER)).toEqual([
      { name: "/retry", words: ["/retry"], does: "Ask again, with the same words or with new words [text]" },
      {
        name: "/changes",
        words: ["/changes", "/diff"],
        does: "List the changed files and who changed them, or show one file's changes [turn | conversation | git] [path]",
      },
    ]);
    for (const [line, done] of [
      ["/retry in other words ", "Answer again: in other words"],
      ["/DIFF", "Panel: Changes: "],
    ] as const)
      expect(act(line)).toBe(done);
  });

  it("have errors that name the place of the action, the nearest name, or the missing target", () => {
    expect(act("/copy")).toMatch(/Point at a message/);
    expect(act("/quit")).toMatch(/conversation is kept/);
    expect(() => act("/retyr")).toThrow(/no command \/retyr. Did you mean \/retry\? To send this as text/);
    expect(() => act("/compact")).toThrow(/can't be used yet/);
    expect(() => act("/findings 1")).toThrow(/can't be used yet/);
  });

  it("are messages if the first word is no name: a file's path, or a line after a blank", () => {
    for (const text of ["/etc/hosts says what?", " /retry", "a /retry", "/a.b", "//"])
      expect(slashIn(text)).toBeUndefined();
  });
});

describe("W65, W74: prompts that files and MCP servers bring", () => {
  const file = (name: string): ServerPrompt => ({ name, description: `Says ${name}.`, arguments: [] });
  const show: ServerPrompt = {
    name: "trees:show",
    description: "Shows a tree.",
    hint: "kind [how]",
    server: "trees",
    arguments: [
      { name: "kind", description: "Which tree.", required: true },
      { name: "how", description: "", required: false },
    ],
  };
  const brought = { prompts: [file("port"), file("model"), file("init"), file("diff"), show], starting: [] };

  it("are requested by their names; the page's command comes before a prompt of the same name, except /init", () => {
    expect(offeredPrompts(brought).map(({ name }) => name)).toEqual(["port", "init", "diff", "trees:show"]);
    expect(promptIn('/Trees:SHOW "an oak"\n at night ', brought)).toEqual({
      prompt: "trees:show",
      argument: '"an oak"\n at night',
    });
    for (const text of ["/model x", "/etc/port", "port", " /port", "/prot", "/late:one", "/"])
      expect(promptIn(text, brought)).toBeUndefined();
    // The server waits for starting MCP servers, and reports the available prompts.
    for (const unsure of [undefined, { ...brought, starting: ["late"] }])
      expect(promptIn("/late:one a", unsure)).toEqual({ prompt: "late:one", argument: "a" });
    expect(() => act("/prot", ["port"])).toThrow(/Did you mean \/port\?/);
  });

  it("are offered with their effects and arguments; Enter runs a complete command, and opens the fields of others", () => {
    const all = slashCommands([...ACTIONS, action("plan", "Panel: Plan")], USER);
    const labels = (word: string) =>
      commandsFor(word, { own: [], all, brought: offeredPrompts(brought) }).map(({ label }) => label);
    expect(labels("/p")).toEqual(["/plan", "/port"]);
    for (const whole of ["/plan", "/port", "/changes"]) expect(labels(whole)).toEqual([]);
    expect(labels("/trees:show")).toEqual(["/trees:show"]);
    const [offered] = commandsFor("/T", { own: [], all, brought: [show] });
    expect(offered).toMatchObject({ text: "/trees:show ", does: "Shows a tree. kind [how]" });
    expect(offered?.prompt?.fields.map(({ name, required }) => [name, required])).toEqual([
      ["kind", true],
      ["how", false],
    ]);
  });

  it("are written with the values of their fields, so that each value stays one value", () => {
    for (const [values, line] of [
      [{ kind: "oak" }, "/trees:show oak"],
      [{ kind: " an oak " }, '/trees:show "an oak"'],
      [{ kind: 'an "old" oak', how: "in the wind" }, '/trees:show "an ""old"" oak" in the wind'],
      [{ how: '"loud" and clear' }, '/trees:show "" """loud"" and clear"'],
      [{}, "/trees:show "],
    ] as const)
      expect(promptLine(show, values)).toBe(line);
  });

  it("may be called, and ask for, what every object has", () => {
    expect(offeredPrompts({ prompts: [file("constructor")], starting: [] })).toHaveLength(1);
    const wanted = [{ name: "constructor", description: "", required: false }];
    expect(promptLine({ ...show, arguments: wanted }, {})).toBe("/trees:show ");
    expect(filledPrompt({ name: "own", text: "Explain {constructor}." }, {})).toBe("Explain {constructor}.");
  });
});
