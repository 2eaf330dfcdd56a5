import type { FixtureResponse } from "@copilotkit/aimock";
import { createRandom, type Item, type State, summaryLine } from "./items.ts";

/** Returns a test model's answer to a request for a summary. */
export type Summariser = (
  shown: readonly { readonly item: Item; readonly state: State | undefined }[],
) => FixtureResponse;

const GOES_ON = "The work continues.";

const listed: Summariser = (shown) => ({
  content: `Summary of the conversation.\n${shown.map(({ item, state }) => summaryLine(item, state)).join("\n")}`,
});

/** The summary models of the table, by their behaviour. */
export const summarisers: Readonly<Record<string, (seed: number) => Summariser>> = {
  "repeats all": () => listed,
  "forgets 10 %": (seed) => {
    const random = createRandom(seed + 1);
    return (shown) => listed(shown.filter(() => random() >= 0.1));
  },
  "says only that the work continues": () => () => ({ content: GOES_ON }),
  "is empty": () => () => ({ content: "" }),
  refuses: () => () => ({ content: "", finishReason: "content_filter" }),
  "fails with 429": () => () => ({
    error: { message: "Too many requests.", type: "rate_limit" },
    status: 429,
    retryAfter: 0.01,
  }),
  "fails with 503": () => () => ({ error: { message: "Overloaded.", type: "overloaded" }, status: 503 }),
};
