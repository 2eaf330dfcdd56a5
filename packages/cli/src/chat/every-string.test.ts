import { PassThrough } from "node:stream";
import {
  Agent,
  askClient,
  defineTool,
  type Json,
  launchAgent,
  Session,
  say,
  shortenConversation,
  type Tool,
} from "@banyan/core";
import { visibleText } from "@banyan/core/shown";
import { call, scriptedModel } from "@banyan/core/testing";
import { memoryTools } from "@banyan/memory";
import { webTools } from "@banyan/tools/web";
import { workspaceTools } from "@banyan/tools/workspace";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { styleFor } from "../show/style.ts";
import type { Terminal } from "../terminal/contract/terminal.ts";
import { open } from "../terminal/full/testing/opened.ts";
import { PlainTerminal } from "../terminal/plain-terminal.ts";
import type { DecisionRequest } from "../terminal/questions/decision.ts";
import { type Home, home } from "../testing/banyan.ts";
import { Approvals } from "./user/approvals.ts";

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

/** A server's tool accepts any arguments with any names. */
const free = defineTool({
  name: "server__anything",
  description: "",
  input: { type: "object" },
  effects: "external",
  execute: () => "",
});

/** All built-in tools without effects, and one tool of a server. */
function tools(ran: (input: Json) => void): Tool[] {
  const memory = {} as Parameters<typeof memoryTools>[0];
  const search = { name: "none", search: async () => [] } as never;
  const all = [
    ...workspaceTools({ root: place.workspace }),
    ...webTools({ search }),
    ...memoryTools(memory),
    askClient(),
    launchAgent(),
    shortenConversation(),
    free,
  ];
  return all.map((tool) => ({ ...tool, effects: "external", eager: false, execute: (input) => ran(input as Json) }));
}

const PIECES = [
  "a",
  " ",
  "-",
  '"',
  "\\",
  "{",
  "}",
  "\n",
  "\t",
  "\r",
  "\x1b[2K",
  "\x9b",
  "\u202e",
  "\u2066",
  "\u3164",
  "\u200b",
];
const MORE = [
  "\u2800",
  "\ufe0f",
  "\u{e0041}",
  "\u00a0",
  "日",
  "é",
  "👩\u200d👧",
  "rm -rf /",
  "path: x",
  "+ y",
  "timeout: 5",
  "│",
];
const text = fc.string({ unit: fc.constantFrom(...PIECES, ...MORE), minLength: 1, maxLength: 40 });
const anything = fc.dictionary(
  text,
  fc.jsonValue({ depthSize: "small", stringUnit: fc.constantFrom(...PIECES, ...MORE) as never }),
  {
    maxKeys: 4,
  },
) as fc.Arbitrary<Record<string, Json>>;

/** Arguments for a tool: known ones by their types, and unknown ones. */
function argumentsFor({ input }: Tool): fc.Arbitrary<Record<string, Json>> {
  const schema =
    "~standard" in input
      ? (input["~standard"] as never as Standard).jsonSchema.input({ target: "draft-2020-12" })
      : input;
  const { properties = {}, required = [] } = schema as Schema;
  const known = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, valueFor(field)]));
  return fc
    .tuple(
      fc.record(known, { requiredKeys: required as never[] }),
      anything,
      fc.constantFrom({}, { old_text: "innocent", new_text: "edit", path: "a.txt", command: "ls" }),
    )
    .map(([fitting, extra, innocent]) => ({ ...extra, ...innocent, ...fitting }) as Record<string, Json>);
}

interface Standard {
  readonly jsonSchema: { input(options: object): Schema };
}

interface Schema {
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
}

interface Field {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly maxLength?: number;
}

function valueFor({ type, enum: values }: Field): fc.Arbitrary<Json> {
  if (values) return fc.constantFrom(...values);
  if (type === "integer" || type === "number") return fc.integer({ min: 1, max: 5 });
  if (type === "boolean") return fc.boolean();
  if (type === "array") return fc.array(text, { maxLength: 3 });
  return text;
}

/** A user who is asked in this terminal whether a call may run. */
interface Person extends Disposable {
  readonly terminal: Terminal;
  /** Waits for the question, reads it in full, allows the call, and returns the shown text. */
  readAndAllow(): Promise<string>;
}

/** A terminal whose questions accept keys at once. Other tests cover the pause. */
function atOnce(terminal: Terminal): Terminal {
  const { style } = terminal;
  return {
    style,
    isClosed: false,
    decide: (question: DecisionRequest) => terminal.decide({ ...question, again: true }),
  } as Terminal;
}

/** Lets a model request a call. Returns the shown question and the executed call. */
async function asked(
  person: Person,
  tool: string,
  input: Json,
): Promise<{ shown: string; ran?: Json; logged?: Json; judged?: Json }> {
  const seen: { ran?: Json; logged?: Json; judged?: Json } = {};
  const agent = new Agent({
    model: scriptedModel([[call(tool, input as never)], "done"]),
    tools: tools((ran) => Object.assign(seen, { ran: structuredClone(ran) })),
    permission: (request) => {
      seen.judged = structuredClone(request.input);
      return { decision: "ask", pattern: `${tool}(*)` };
    },
  });
  const session = Session.inMemory();
  const view = { say: () => {}, note: () => {} } as never;
  const approvals = new Approvals(atOnce(person.terminal), view, { agent: "banyan" });
  let shown = "";
  for await (const item of agent.chat(say("go"), { session })) {
    if (item.type !== "call.approval-requested") continue;
    // No rule may answer for the user.
    const answered = approvals.ask(session, item.question);
    shown = await person.readAndAllow();
    await answered;
  }
  for (const message of session.state.messages.values()) {
    const [found] = message.role === "assistant" ? message.calls : [];
    if (found?.input !== undefined) seen.logged = structuredClone(found.input);
  }
  return { shown, ...seen };
}

/** All strings, names, numbers and other values in arguments. */
function stringsIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  if (value !== null && typeof value === "object")
    return Object.entries(value).flatMap(([name, inner]) => [name, ...stringsIn(inner)]);
  return [String(value)];
}

/** Removes characters that wrap and indent lines. */
const bare = (lines: string) => lines.replaceAll(/[\s│+-]/g, "");

/** Returns true if each line of a text is shown, literally or in JSON. */
function stands(wanted: string, shown: string): boolean {
  const forms = [wanted.split("\n"), [JSON.stringify(wanted).slice(1, -1)]];
  return forms.some((lines) => lines.every((line) => shown.includes(bare(visibleText(line)))));
}

/** The command of a call with only that argument, whose name is not shown (T26). */
function aloneIn(ran: Json): string | undefined {
  const [first, ...others] = Object.entries(ran ?? {});
  if (first?.[0] !== "command" || others.length > 0) return undefined;
  return typeof first[1] === "string" && first[1].trim() !== "" ? first[1] : undefined;
}

/** Arguments that a diff shows without their names (T73). */
const OF_CHANGE: ReadonlySet<string> = new Set(["path", "content", "old_text", "new_text"]);

/** Strings of a call that the question must show: all values, and the names of all other arguments. */
function wantedOf(tool: string, ran: Json): string[] {
  const alone = aloneIn(ran);
  if (alone !== undefined) return stringsIn(alone);
  if (tool !== "write" && tool !== "edit") return stringsIn(ran);
  return Object.entries(ran ?? {}).flatMap(([name, value]) =>
    stringsIn(OF_CHANGE.has(name) ? value : { [name]: value }),
  );
}

async function everyString(person: () => Person, runs: number): Promise<number> {
  let strings = 0;
  for (const tool of tools(() => {})) {
    await fc.assert(
      fc.asyncProperty(argumentsFor(tool), async (input) => {
        using someone = person();
        const { shown, ran, logged, judged } = await asked(someone, tool.name, input);
        // No question appears for invalid arguments.
        if (ran === undefined) return void expect(shown).toBe("");
        expect([logged, judged]).toEqual([ran, ran]);
        for (const wanted of wantedOf(tool.name, ran)) {
          strings++;
          expect(stands(wanted, bare(shown)), `${JSON.stringify(wanted)} on\n${shown}`).toBe(true);
        }
      }),
      // Shrinking takes minutes and makes failures no clearer.
      { numRuns: runs, endOnFailure: true },
    );
  }
  return strings;
}

/** Returns how a terminal asks: not at all, with a hint that more lines follow, or with the whole text. */
function asking(shown: string): "no" | "more" | "whole" {
  if (!shown.endsWith("Allow this? ")) return "no";
  const hints = shown.split("type more to read on)").length;
  return hints === shown.split("Allow this? ").length ? "more" : "whole";
}

const LONG = process.env.BANYAN_LONG !== undefined;

describe("S15: the question shows every string of the call, for all tools", () => {
  test("in plain lines", async () => {
    const person = (): Person => {
      const [input, output] = [new PassThrough(), new PassThrough({ encoding: "utf8" })];
      const style = styleFor(process.stdout, "never");
      const terminal = new PlainTerminal({
        input: input as never,
        output: output as never,
        style,
        env: {},
        onTyped: () => true,
        onInterrupt() {},
      });
      let all = "";
      output.on("data", (piece: string) => {
        all += piece;
        const now = asking(all);
        if (now !== "no") input.write(now === "more" ? "more\n" : "y\n");
      });
      return {
        terminal,
        [Symbol.dispose]: () => terminal.close(),
        readAndAllow: async () => {
          while (asking(all) !== "whole") await new Promise(setImmediate);
          return all;
        },
      };
    };
    expect(await everyString(person, LONG ? 100 : 8)).toBeGreaterThan(200);
  });

  test("in the full terminal", async () => {
    const person = (): Person => {
      const here = open(100, 120);
      return {
        terminal: here.terminal,
        [Symbol.dispose]: () => here[Symbol.dispose](),
        readAndAllow: async () => {
          await here.screen.until("Allow this?");
          const shown = here.screen.rows.join("\n");
          expect(shown).not.toContain("more lines: PgUp and PgDn move");
          here.keys("y", "\r");
          return shown;
        },
      };
    };
    expect(await everyString(person, LONG ? 50 : 4)).toBeGreaterThan(100);
  });
});
