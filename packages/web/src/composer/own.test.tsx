import { expect, it } from "vitest";
import { fieldsOf, filledPrompt } from "./own.ts";

it("W74: a prompt asks for each field once; braces of code are no fields", () => {
  const prompt = {
    name: "port",
    text: 'Port {what} to {language}, as {language} has it. Keep `{ a: 1 }`, {} and {"b": 2}.',
  };
  expect(fieldsOf(prompt)).toEqual(["what", "language"]);
  expect(filledPrompt(prompt, { what: "$& sum.ts", language: "Go" })).toBe(
    'Port $& sum.ts to Go, as Go has it. Keep `{ a: 1 }`, {} and {"b": 2}.',
  );
});
