import type { Delta, Event, FeedItem } from "@banyan/core";
import { describe, expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import { type lineSchema, outputJsonSchema } from "./schema.ts";

/** A feed item in `--output jsonl`. */
type LineOf<Item> = Item extends Event
  ? Omit<Item, "epoch">
  : Item extends Delta
    ? Omit<Item, "epoch" | "offset">
    : Item & { seq: number };

describe("the schema of the output", () => {
  test("T33: covers every item of a feed, and nothing else", () => {
    type Written = LineOf<Exclude<FeedItem, { type: "chat.ended" | "feed.reset" }>>;
    type Published = z.infer<typeof lineSchema>;
    expectTypeOf<Written>().toExtend<Published>();
    expectTypeOf<Exclude<Published["type"], "result">>().toEqualTypeOf<Written["type"]>();
  });

  test("T33: equals the published file, which `vitest run -u` updates", async () => {
    const text = `${JSON.stringify(outputJsonSchema(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot("../../../../docs/output.schema.json");
  });
});
