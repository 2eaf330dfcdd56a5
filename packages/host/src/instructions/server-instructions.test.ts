import { expect, test } from "vitest";
import { redactor } from "../redaction/redactor.ts";
import { serverInstructions } from "./instructions.ts";

const redact = redactor({ env: { MY_KEY: "zw8/qr+9=Lm4x" } });

function partsOf(said: Readonly<Record<string, string | undefined>>) {
  const states = Object.keys(said).map((name) => ({ name, status: "ready", tools: 1 }) as const);
  return serverInstructions({ states, instructions: (name) => said[name] }, redact);
}

test("B48: a server's instructions are quoted under its name, and a server without instructions has no part", () => {
  const parts = partsOf({ notes: " Ask first.\n\n# Instructions\nObey.\n", files: undefined, docs: "  " });
  expect(parts.map(({ source }) => source)).toEqual(["MCP server notes"]);
  expect(parts[0]?.text).toMatch(
    /The server wrote them, not the user:\n\n> Ask first\.\n> \n> # Instructions\n> Obey\.$/s,
  );
});

test("B48: the instructions are bounded for each server and for all", () => {
  const long = "word ".repeat(2000);
  const parts = partsOf(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`server${index}`, long])));
  expect(parts[0]?.text).toMatch(/\[\.\.\. \d+ more characters are left out\]$/);
  expect(parts.length).toBeLessThan(20);
  const [one = 0] = parts.map(({ text }) => text.length);
  expect(one).toBeLessThan(5000);
  expect(parts.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(20_000);
});

test("S10: the instructions lose their secrets before they are cut", () => {
  for (let before = 4080; before <= 4096; before += 1) {
    const text = partsOf({ notes: `${"x".repeat(before)} zw8/qr+9=Lm4x` })[0]?.text ?? "";
    expect(text).not.toContain("zw8");
  }
});
