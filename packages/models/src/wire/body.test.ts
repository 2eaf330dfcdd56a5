import fc from "fast-check";
import { expect, test } from "vitest";
import { ListBodies, type ListBody } from "./body.ts";

const piece = (text: string) => Buffer.from(`,${JSON.stringify(text)}`);

/** The text of a body, written without reusing memory. */
function textOf({ before, pieces, after }: ListBody): string {
  return before + pieces.map(String).join("").slice(1) + after;
}

test("each request has the bytes of its own body, however lists grow, change and overlap", async () => {
  const text = fc.string({ maxLength: 30, unit: "grapheme" });
  const request = fc.record({
    list: fc.nat(1),
    kept: fc.nat(8),
    added: fc.array(text, { maxLength: 4 }),
    head: fc.constantFrom("[", '{"größer":['),
    after: text,
    /** Number of later requests that begin before this one ends. */
    lasts: fc.nat(2),
    fails: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 20 }), async (requests) => {
      const bodies = new ListBodies();
      const lists = [{ pieces: [] as Buffer[] }, { pieces: [] as Buffer[] }];
      const open: { until: number; end: () => Promise<void> }[] = [];
      for (const [at, { list, kept, added, head, after, lasts, fails }] of requests.entries()) {
        const of = lists[list] as { pieces: Buffer[] };
        of.pieces = [...of.pieces.slice(0, kept), ...added.map(piece)];
        const body = { of, before: head, pieces: of.pieces, after };
        const answer = Promise.withResolvers<void>();
        let bytes: Uint8Array = new Uint8Array();
        const sent = bodies.send(body, (written) => {
          bytes = written;
          return answer.promise;
        });
        expect(Buffer.from(bytes).toString()).toBe(textOf(body));
        const end = async () => {
          expect(Buffer.from(bytes).toString()).toBe(textOf(body));
          if (fails) answer.reject(new Error("refused"));
          else answer.resolve();
          await sent.catch(() => {});
        };
        open.push({ until: at + lasts, end });
        for (const one of open.filter(({ until }) => until <= at)) await one.end();
        open.splice(0, open.length, ...open.filter(({ until }) => until > at));
      }
      for (const one of open) await one.end();
    }),
  );
});

test("a step writes new bytes into the memory of the step before, and into new memory after a failure", async () => {
  const bodies = new ListBodies();
  const of = {};
  const pieces: Buffer[] = [];
  const memories: ArrayBufferLike[] = [];
  const step = (outcome: Promise<void>) => {
    pieces.push(piece("a step"));
    return bodies.send({ of, before: "[", pieces: [...pieces], after: "]" }, (bytes) => {
      memories.push(bytes.buffer);
      return outcome;
    });
  };
  for (let count = 0; count < 8; count++) await step(Promise.resolve());
  // The memory doubles when the body no longer fits.
  expect(new Set(memories).size).toBeLessThanOrEqual(4);
  await expect(step(Promise.reject(new Error("gone")))).rejects.toThrow("gone");
  await step(Promise.resolve());
  expect(memories.at(-1)).not.toBe(memories.at(-2));
});
