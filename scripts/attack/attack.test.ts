import { expect, test } from "vitest";
import { all } from "./all.ts";
import type { Attack } from "./attack.ts";
import { runAttacks } from "./run-attacks.ts";
import { table } from "./table.ts";
import type { Tried } from "./tried.ts";

const isLong = process.env.BANYAN_LONG === "1";

test("an attack holds, breaks or cannot be tried; one that throws, hangs or ends its process is broken, and the next is tried", async () => {
  const heard: Tried[] = [];
  const file = new URL("outcomes.fixture.ts", import.meta.url);
  const tried = await runAttacks([file], { onTried: (one) => heard.push(one) });
  expect(heard).toEqual(tried);
  const told = tried.map(({ name, outcome }) => [name, outcome.type, "why" in outcome ? outcome.why : ""]);
  expect(told).toEqual([
    ["holds, and leaves a file and a process behind", "held", ""],
    ["holds, in a place of its own", "held", ""],
    ["breaks through", "broken", "it broke"],
    ["throws", "broken", expect.stringMatching(/^the attack itself failed: Error: a mistake/)],
    ["cannot be tried", "not-tried", "there is no moon"],
    ["waits for ever", "broken", "the attack did not end within 2 seconds"],
    ["never gives the processor back", "broken", "the attack did not end within 2 seconds"],
    ["ends its process", "broken", expect.stringMatching(/^its process ended with 0/)],
    ["runs the command", "held", ""],
  ]);
  expect(table(tried).split("\n").slice(0, 4)).toEqual([
    "rule     attacks      held    broken not tried",
    "S0             9         3         5         1",
    "",
    "S0 BROKEN: breaks through: it broke",
  ]);
});

test("a file that cannot be loaded is said, and not passed over", async () => {
  await expect(runAttacks([new URL("no-such-file.ts", import.meta.url)])).rejects.toThrow(
    /cannot be loaded: .*no-such-file/s,
  );
});

test.each([...all])("the attacks of %s are on it, each with a name of its own", async (rule, file) => {
  const { attacks }: { readonly attacks: readonly Attack[] } = await import(file.href);
  expect(attacks.length).toBeGreaterThan(0);
  expect(new Set(attacks.map((attack) => attack.rule))).toEqual(new Set([rule]));
  expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
});

test.runIf(isLong)("no attack breaks through", { timeout: 60 * 60_000 }, async () => {
  const tried = await runAttacks([...all.values()]);
  expect(tried.length).toBeGreaterThan(0);
  expect(tried.filter(({ outcome }) => outcome.type === "broken")).toEqual([]);
});
