import { expect, test } from "vitest";
import { hasNewSyntax } from "./syntax.fixture.ts";

test.each([
  [true, "export const a = await b();"],
  [true, "export {}; export const f = () => { using a = b(); };"],
  [true, "export const f = async () => { await using a = b(); };"],
  [true, "export const a = 1; for await (const b of c) d(b);"],
  [false, "export const f = async () => { for await (const a of b) await c(a); };"],
  [false, "export class A { async b() { await c(); } }"],
  [false, "await main();"],
])("L8: finds `using`, and `await` at the top of a module with exports: %s, %s", (expected, source) => {
  expect(hasNewSyntax(source)).toBe(expected);
});
