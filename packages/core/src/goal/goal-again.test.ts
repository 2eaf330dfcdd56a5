import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { resume, retry, say } from "../agent/directive.ts";
import { DirectiveError } from "../conversation/checked/user-content.ts";
import type { Goal } from "../ports/goal.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect } from "../testing/collect.ts";
import { fail, type Script, scriptedModel, text } from "../testing/scripted-model.ts";

/** How a turn ends: its goal is reached, its model breaks off, or its checks fail too often. */
const SCRIPTS: Readonly<Record<"reached" | "broken" | "failed", Script>> = {
  reached: ["yes"],
  broken: [[text("Half"), fail("overloaded")]],
  failed: ["no", "no"],
};

const step = fc.record({
  directive: fc.constantFrom("say", "retry", "resume"),
  end: fc.constantFrom(...(["reached", "broken", "failed"] as const)),
});

test("E13: a message, another answer and a continuation keep an open goal with its beginning, and begin a reached goal anew", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const begun: string[] = [];
      const reached = new Set<string>();
      /** Goals that were checked before their beginning, or after they were reached. */
      const faults: string[] = [];
      const goal: Goal = {
        failures: 2,
        checks: [
          {
            what: "the answer is yes",
            begin: (at) => begun.push(at.goal),
            run: (at) => {
              if (!begun.includes(at.goal) || reached.has(at.goal)) faults.push(at.goal);
              if (at.answer === "yes") reached.add(at.goal);
              return { passed: at.answer === "yes" };
            },
          },
        ],
      };
      const session = Session.inMemory();
      /** The goals of the turns that answered the last message, and of the turn at the end of the branch. */
      let [ofMessage, atEnd] = [undefined, undefined] as (string | undefined)[];
      for (const { directive: name, end } of steps) {
        const directive = { say: say("Go."), retry: retry(), resume: resume() }[name];
        const over = new Set(reached);
        const open = (id: string | undefined) => (id === undefined || over.has(id) ? undefined : id);
        const agent = new Agent({ model: scriptedModel(SCRIPTS[end]), goal, retry: { attempts: 1 } });
        const items = await collect(agent.chat(directive, { session })).catch((error: unknown) => {
          if (error instanceof DirectiveError) return [];
          throw error;
        });
        const [id] = items.flatMap((item) => (item.type === "run.started" ? [item.goal?.id] : []));
        // There was nothing to answer again, or to continue.
        if (id === undefined) continue;
        const continued = open(name === "retry" ? ofMessage : atEnd);
        if (continued !== undefined) expect(id).toBe(continued);
        else expect(begun.at(-1)).toBe(id);
        [ofMessage, atEnd] = [id, id];
        checkConversation(session.state);
      }
      expect(faults).toEqual([]);
      expect(new Set(begun).size).toBe(begun.length);
    }),
    { numRuns: process.env.BANYAN_LONG === "1" ? 1_000 : 60 },
  );
});
