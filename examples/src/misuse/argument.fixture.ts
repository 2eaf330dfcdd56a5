import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, defineTool, Session } from "@banyan/core";
import { scriptedModel } from "@banyan/core/testing";
import { memoryStore } from "@banyan/store/memory";

/** A value of each kind. A function must refuse each kind that its row does not list. */
export const VALUES: Readonly<Record<string, unknown>> = {
  number: 7,
  text: "x",
  boolean: true,
  null: null,
  list: [7],
  object: { wrng: 7 },
  function: () => {},
  promise: Promise.resolve({}),
  nothing: undefined,
};

/** An argument: a right value, the kinds of values that it takes, and the kinds of its options. */
interface Argument {
  readonly good: unknown;
  readonly takes: string;
  readonly options: Readonly<Record<string, string>>;
}

type Callee = (...given: never[]) => unknown;
export type Row = readonly [call: Callee, args: Readonly<Record<string, Argument>>];

export const arg = (good: unknown, takes: string, options: Readonly<Record<string, string>> = {}): Argument => ({
  good,
  takes,
  options,
});
/** The argument with options. A misspelt option, such as those of the value `object`, is refused. */
export const options = (kinds: Readonly<Record<string, string>>, good: object | undefined = undefined): Argument =>
  arg(good, good === undefined ? "nothing" : "", kinds);
/** An argument that is a text, and an optional one. */
export const word = arg("x", "text");
export const maybeWord = arg(undefined, "text nothing");

export const model = scriptedModel(() => "Hello.");
export const tool = defineTool({
  name: "look",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: () => "",
});
export const agent = new Agent({ name: "guide", description: "Guides.", model });
export const store = memoryStore();
export const session = Session.inMemory();
export const signal = AbortSignal.timeout(600_000);
export const folder = mkdtempSync(join(tmpdir(), "misuse-"));
export const env = { OPENAI_API_KEY: "k" };
export const wire = { id: "a/b", model: "b", baseURL: "http://127.0.0.1:1" };

async function written() {
  const session = Session.inMemory();
  const { message } = await agent.send("Hi", { session });
  return { session, message: message?.id ?? "" };
}
export const { session: said, message } = await written();

export function anything(good: unknown): Argument {
  return arg(good, Object.keys(VALUES).join(" "));
}
