import { describe, expect, test } from "vitest";
import { faultsOf, longConversation } from "./long-conversations.fixture.ts";

const LONG = process.env.BANYAN_LONG === "1";
const CONVERSATIONS = LONG ? 300 : 8;
const FIRST = Number(process.env.BANYAN_SEED ?? 1);

describe("F88, F89: random long conversations, with windows of 4,000 to 200,000 tokens,", () => {
  test("end each turn whose message fits, run no call twice, and have nothing refused twice", async () => {
    const faults: string[] = [];
    for (let seed = FIRST; seed < FIRST + CONVERSATIONS; seed++) {
      for (const fault of await faultsOf(longConversation(seed))) faults.push(`BANYAN_SEED=${seed}: ${fault}`);
    }
    expect(faults).toEqual([]);
  });
});
