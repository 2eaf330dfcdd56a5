import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";

const city = z.object({ city: z.string(), days: z.number().default(3) });

test("L2: a tool keeps the types of its input and its output, and fits into a list of tools", () => {
  const weather = defineTool({
    name: "weather",
    description: "Tells the weather.",
    input: city,
    effects: "none",
    execute: async ({ city, days }) => ({ city, degrees: days }),
  });
  expectTypeOf(weather).toEqualTypeOf<Tool<z.output<typeof city>, { city: string; degrees: number }>>();
  const clock = defineTool({
    name: "clock",
    description: "Tells the time.",
    input: { type: "object" },
    effects: "none",
    execute: () => "12:00",
  });
  expectTypeOf(clock).toEqualTypeOf<Tool<unknown, string>>();
  const tools: readonly Tool[] = [weather, clock];
  expectTypeOf(tools).items.toEqualTypeOf<Tool>();
});

test("L2: the compiler names the option that a tool lacks", () => {
  const describe = () =>
    // @ts-expect-error Property 'effects' is missing.
    defineTool({ name: "look", description: "Looks.", input: city, execute: () => "seen" });
  expectTypeOf(describe).toBeFunction();
});
