import { rmSync } from "node:fs";
import * as core from "@banyan/core";
import * as testing from "@banyan/core/testing";
import * as models from "@banyan/models";
import * as memory from "@banyan/store/memory";
import * as postgres from "@banyan/store/postgres";
import * as search from "@banyan/store/search";
import * as sqlite from "@banyan/store/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { folder, type Row, VALUES } from "./argument.fixture.ts";
import { CORE, SESSION } from "./core.fixture.ts";
import { MODELS, SERVER, STORES, TESTING } from "./kit.fixture.ts";

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Names of our error classes. */
const OURS =
  /^(OptionError|SessionError|DirectiveError|ChatError|StoreError|ToolDefinitionError|LimitError|ModelChoiceError|UnfitAnswerError|TurnError)$/;

/** A wrong call: what is wrong, the call, and the words that its refusal must have. */
type Misuse = readonly [what: string, call: () => unknown, words: readonly string[]];

function misusesOf([name, [call, args]]: [string, Row]): readonly Misuse[] {
  const places = Object.entries(args);
  const goods = places.map(([, { good }]) => good);
  const given = (place: number, value: unknown) => () => call(...(goods.with(place, value) as never[]));
  return places.flatMap(([argument, { good, takes, options }], place): Misuse[] => {
    const kinds = Object.keys(VALUES).filter((kind) => !takes.split(" ").includes(kind));
    const whole = kinds.map((kind): Misuse => {
      const words = [
        argument,
        "options of",
        "is no option of",
        "is missing",
        "needs",
        "parts[",
        name.split(".").at(-1) ?? "",
      ];
      return [`${argument}: ${kind}`, given(place, VALUES[kind]), words];
    });
    const single = Object.entries(options).flatMap(([option, takes]) =>
      Object.keys(VALUES)
        .filter((kind) => kind !== "nothing" && !takes.split(" ").includes(kind))
        .map((kind): Misuse => {
          const value = { ...(good as object), [option]: VALUES[kind] };
          return [`${option}: ${kind}`, given(place, value), [option, option.replace(/s$/, "")]];
        }),
    );
    const misspelt = Object.keys(options).map((option): Misuse => {
      const value = { ...(good as object), [`${option}x`]: 7 };
      return [`${option}x`, given(place, value), [`${option}x is no`]];
    });
    return [...whole, ...single, ...misspelt];
  });
}

/** Returns the fault of an answer to a misuse, or nothing if one sentence refuses the misuse and names the argument. */
async function fault([what, call, words]: Misuse): Promise<string | undefined> {
  try {
    await call();
  } catch (error) {
    const { name, message } = error as Error;
    const shown = `${what}: ${name}: ${message}`;
    if (!OURS.test(name)) return shown;
    if (!/^\S.*[.?]$/s.test(message)) return `${shown} (no sentence)`;
    return words.some((word) => message.includes(word)) ? undefined : `${shown} (does not name ${words[0]})`;
  }
  return `${what}: accepted`;
}

const TABLE = { ...CORE, ...SESSION, ...MODELS, ...STORES, ...TESTING, ...SERVER };

describe("L11: each argument and option refuses every kind of value that it cannot use", () => {
  test.each(Object.entries(TABLE))("%s", async (name, row) => {
    const faults: string[] = [];
    for (const misuse of misusesOf([name, row])) {
      const found = await fault(misuse);
      if (found !== undefined) faults.push(found);
    }
    expect(faults).toEqual([]);
  });
});

/** Calls that a program could only make in another situation, such as an answer to an open question. */
const ELSEWHERE = ["agent.answer", "session.answer", "session.processes.stop", "notes.fileChange", "recorded"];

test("L11: the right values of the table are accepted", async () => {
  const refused: string[] = [];
  for (const [name, [call, args]] of Object.entries(TABLE)) {
    if (ELSEWHERE.includes(name)) continue;
    const found = await (async () => call(...(Object.values(args).map(({ good }) => good) as never[])))().catch(
      (error: unknown) => refused.push(`${name}: ${(error as Error).message}`),
    );
    await (found as Partial<AsyncDisposable> | undefined)?.[Symbol.asyncDispose]?.();
  }
  expect(refused).toEqual([]);
});

/** Exports that take no arguments, or make errors. */
const WITHOUT =
  /^(askClient|createId|resume|shortenConversation|stop|stall|cut|DeltaReader|loadWire|memoryStore|forgetfulStore|.*Error|Interruption|Session)$/;
/** Functions of a cluster, which get the database of `postgresStore`. */
const CLUSTER = /^(Takeover|runsToGoOnWith)$/;

test("L11: the table has each function that the entries export", () => {
  const entries = { ...core, ...testing, ...models, ...memory, ...postgres, ...search, ...sqlite };
  const exported = Object.entries(entries).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));
  const missing = exported.filter((name) => !(name in TABLE) && !WITHOUT.test(name) && !CLUSTER.test(name));
  expect(missing).toEqual([]);
});
