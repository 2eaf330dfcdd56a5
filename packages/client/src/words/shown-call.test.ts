import type { Json, PlanStep } from "@banyan/core/conversation";
import { visibleText } from "@banyan/core/shown";
import fc from "fast-check";
import { expect, test } from "vitest";
import { argumentsText, shownCall, shownStatus, thingText } from "./shown-call.ts";

const PLAN: readonly PlanStep[] = [
  { title: "look", status: "completed" },
  { title: "mend\nit", status: "in_progress" },
  { title: "test", status: "pending" },
];

test("S15: who decides about a plan reads its steps, and every other argument; changed ones as they are", () => {
  const steps = PLAN.map((step) => ({ ...step }));
  const call = { input: { steps, hand_in: true }, inputText: "", about: { plan: PLAN, handsIn: true } };
  // The question already says that the plan is submitted.
  expect(shownCall(call).map(({ text }) => text)).toEqual(["[x] look", "[~] mend\\nit", "[ ] test"]);
  const more = shownCall(call, { input: { steps, hand_in: true, where: "here" } }).map(({ text }) => text);
  expect(more).toEqual([
    ...["steps, 3 steps:", "[x] look", "[~] mend\\nit", "[ ] test", "hand_in: true", 'where: "here"'],
  ]);
  const withSteps = (steps: Json) => shownCall(call, { input: { steps, hand_in: true } }).map(({ text }) => text);
  expect(withSteps([])).toEqual(["steps: []", "hand_in: true"]);
  expect(withSteps([{ title: "rest", status: "pending" }])).toEqual(["[ ] rest"]);
  // Fields that a plan does not show are shown as JSON.
  expect(withSteps([{ title: "rest", status: "pending", run: "rm" }]).join(" ")).toContain('"run": "rm"');
  expect(withSteps([{ title: "rest", status: "toString" }]).join(" ")).toContain('"status": "toString"');
});

test("S41: what holds a command is one line after the command, and stays when a user edits the command", () => {
  const call = { input: { command: "npm test" }, inputText: "", about: { command: "npm test" } };
  const preview = { confinement: "Outside\nthe sandbox" };
  const line = { look: "confinement", text: "Outside\\nthe sandbox" };
  expect(shownCall(call, { preview }).at(-1)).toEqual(line);
  expect(shownCall(call, { preview, input: { command: "npm run test" } }).at(-1)).toEqual(line);
});

test("T47: a plan is changed as lines: what is written is its steps, and one that nobody touches stays what it was", () => {
  const input = { steps: PLAN.map((step) => ({ ...step })), hand_in: true };
  const { name, text, read } = thingText({ input, about: { plan: PLAN, handsIn: true } }) ?? argumentsText();
  expect({ name, text }).toEqual({ name: "steps", text: "[x] look\n[~] mend\\nit\n[ ] test" });
  expect(read(text)).toBe(input);
  const written = "[X] look\n\n- [~] mend it\n  2. test\n[ ]\n* rest [a bit]  ";
  expect(read(written)).toEqual({
    steps: [
      { title: "look", status: "completed" },
      { title: "mend it", status: "in_progress" },
      { title: "test", status: "pending" },
      { title: "rest [a bit]", status: "pending" },
    ],
    hand_in: true,
  });
  expect(() => read(" \n[x]\n")).toThrow(new SyntaxError("A plan needs at least one step. Write one step per line."));
});

test("S15: every string, name and value of any arguments stands in the question", () => {
  let strings = 0;
  const anything = fc.dictionary(
    fc.string({ unit: "binary" }),
    fc.jsonValue({ stringUnit: "binary" }) as fc.Arbitrary<Json>,
  );
  fc.assert(
    fc.property(anything, (input) => {
      const lines = shownCall({ input, inputText: "" }).map(({ text }) => text);
      for (const text of stringsIn(input)) {
        strings++;
        expect(stands(text, lines), text).toBe(true);
      }
    }),
    { numRuns: process.env.BANYAN_LONG ? 2_000 : 150 },
  );
  expect(strings).toBeGreaterThan(100);
});

/** Every string, name and other value in arguments. */
function stringsIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  if (value !== null && typeof value === "object")
    return Object.entries(value).flatMap(([name, inner]) => [name, ...stringsIn(inner)]);
  return [String(value)];
}

/** True if the lines contain a text, plain or in JSON form. */
function stands(text: string, lines: readonly string[]): boolean {
  const all = lines.join("\n");
  const quoted = visibleText(JSON.stringify(text)).slice(1, -1).replaceAll("\t", "\\t");
  return all.includes(visibleText(text)) || all.includes(quoted);
}

test("T67: a command with an exit code other than 0 has failed for users; the output of other calls means nothing", () => {
  const base = { id: "c", tool: "shell", inputText: "", attempt: 1, progress: "", startedAt: 1 } as const;
  const command = { ...base, about: { command: "make" } };
  const status = (output: string, call: object = command) =>
    shownStatus({ ...base, ...call, status: "completed", output });
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 255 }), (said, code) => {
      expect(status(`${said === "" ? "" : `${said}\n`}exit code ${code}`)).toBe("failed");
      expect(status(`exit code ${code}\n${said}.`)).toBe("completed");
      expect(status(`exit code ${code}`, base)).toBe("completed");
    }),
  );
});
