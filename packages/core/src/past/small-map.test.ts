import fc from "fast-check";
import { expect, test } from "vitest";
import { SmallMap } from "./small-map.ts";

test("a small map acts like a Map, and its values can change during a reading", () => {
  const id = fc.constantFrom("a", "b", "c", "d");
  const step = fc.oneof(
    fc.record({ does: fc.constant("set" as const), id, value: fc.integer() }),
    fc.record({ does: fc.constant("delete" as const), id }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const [small, known] = [new SmallMap<number>(), new Map<string, number>()];
      for (const step of steps) {
        const before = small.values();
        const copy = [...before];
        if (step.does === "set") for (const map of [small, known]) map.set(step.id, step.value);
        else for (const map of [small, known]) map.delete(step.id);
        expect(before).toEqual(copy);
        expect(small.values()).toEqual([...known.values()]);
        for (const each of ["a", "b", "c", "d"])
          expect([small.get(each), small.has(each)]).toEqual([known.get(each), known.has(each)]);
      }
    }),
  );
});
