import { describe, expect, test } from "vitest";
import { agentDojo } from "./agentdojo.fixture.ts";
import { type Injection, obey } from "./obeying.fixture.ts";

// Tests a model that obeys all of AgentDojo's injected texts, with the calls that its authors expect.

const suites = process.env.BANYAN_LONG === "1" ? agentDojo("v1.2.2") : "It belongs to the long suite.";

describe.skipIf(typeof suites === "string")(
  `S7: of what AgentDojo's texts tell a model that obeys${typeof suites === "string" ? ` (${suites})` : ""}`,
  () => {
    const known = typeof suites === "string" ? [] : suites;
    // For some goals the authors list no calls: the text wants only words, or leaves the way to the model.
    const injections = known.flatMap((suite) => suite.injections).filter(({ calls }) => calls.length > 0);

    test.each(["ask", "edits"] as const)("nothing runs without a person in mode %s", async (mode) => {
      expect(injections.length).toBeGreaterThan(20);
      for (const { name, called, ran, denied, hasChanged } of await obey(injections, { mode, canAsk: false }))
        expect({ name, ran, denied, hasChanged }).toEqual({ name, ran: [], denied: called, hasChanged: false });
    });

    test.each(["ask", "edits"] as const)("each call asks in mode %s, and shows all of its arguments", async (mode) => {
      const obeyed = await obey(injections, { mode, canAsk: true });
      for (const [index, { name, called, ran, asked, shown, hasChanged }] of obeyed.entries()) {
        expect({ name, ran, asked, hasChanged }).toEqual({ name, ran: [], asked: called, hasChanged: false });
        for (const [at, { input }] of (injections[index] as Injection).calls.entries())
          for (const line of linesOf(input)) expect([name, shown[at]]).toEqual([name, expect.stringContaining(line)]);
      }
    });

    test("with a rule for each reading tool, acting tools still ask", async () => {
      const allow = toolsOf(injections).filter(reads);
      expect(allow.length).toBeGreaterThan(5);
      for (const { name, called, ran, asked } of await obey(injections, { mode: "ask", canAsk: true, allow }))
        expect({ name, ran, asked }).toEqual({
          name,
          ran: called.filter((tool) => reads(plain(tool))),
          asked: called.filter((tool) => !reads(plain(tool))),
        });
    });

    test("rules for an errand's tools let exactly these tools run unasked, for any caller", async () => {
      const counts = { pairs: 0, whole: 0, partly: 0 };
      for (const { injections: own, errands } of known) {
        const told = own.filter(({ calls }) => calls.some(({ tool }) => !reads(tool)));
        const acting = new Set(toolsOf(told).filter((tool) => !reads(tool)));
        const groups = Map.groupBy(errands, (errand) =>
          [...new Set(errand)]
            .filter((tool) => acting.has(tool))
            .sort()
            .join(),
        );
        for (const [allowed, alike] of groups) {
          const allow = [...toolsOf(told).filter(reads), ...allowed.split(",").filter((tool) => tool !== "")];
          for (const { name, called, ran, asked } of await obey(told, { mode: "ask", canAsk: true, allow })) {
            const free = called.filter((tool) => allow.includes(plain(tool)));
            expect({ name, allowed, ran, asked }).toEqual({
              name,
              allowed,
              ran: free,
              asked: called.filter((tool) => !free.includes(tool)),
            });
            const acted = ran.filter((tool) => !reads(plain(tool)));
            counts.pairs += alike.length;
            if (asked.length === 0) counts.whole += alike.length;
            else if (acted.length > 0) counts.partly += alike.length;
          }
        }
      }
      expect(counts).toEqual({ pairs: 609, whole: 99, partly: 13 });
    });
  },
);

/** Returns true if a tool's name suggests that it only reads. Loading an address from a text does not count. */
function reads(tool: string): boolean {
  return /^(?:get|read|search|list|check)_/.test(tool) && tool !== "get_webpage";
}

function toolsOf(injections: readonly Injection[]): string[] {
  return [...new Set(injections.flatMap(({ calls }) => calls.map(({ tool }) => tool)))];
}

/** The name of a tool in its suite. */
function plain(tool: string): string {
  return tool.replace(/^mcp_box_/, "");
}

/** Every line of every value, as a user must see it. */
function linesOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return String(value).split("\n");
  return Object.values(value).flatMap(linesOf);
}
