import { describe, expect, test } from "vitest";
import { banyan, home } from "../testing/banyan.ts";
import { modelServer, type ServerAnswer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { connected, serving } from "../testing/serving.ts";

const MODEL = ["--model", "openai-compatible/test"];
const NOBODY = "No user can be asked here, and the question has no default answer. Decide yourself.";

/** A response with two questions in one call. */
const asks: ServerAnswer = {
  calls: [
    {
      tool: "ask_client",
      input: {
        question: "How shall it look?",
        questions: [
          { heading: "Colour", question: "Which one?", choices: [{ label: "red" }, { label: "blue" }] },
          { heading: "Sizes", question: "Which?", choices: [{ label: "small" }, { label: "huge" }], several: true },
        ],
      },
    },
  ],
};

describe.skipIf(!hasTmux)("C12: a chat asks with choices", () => {
  test("every terminal at a server shows the form; the first answer counts, and the others are told", async () => {
    using place = home();
    await using model = await modelServer(asks, { text: "So be it." });
    const [, address] = await serving(place, model.env);
    const remote = await connected(address);
    using plain = Pty.open(place, ["attach", "--new", "--plain"], model.env);
    await plain.prompted();
    plain.enter("work");
    await plain.until("A number:");
    const { conversation } = await remote.ask("conversation.open", {});
    using full = Pty.open(place, ["attach", "--resume", conversation], model.env);
    await full.until("1 of 2 · Colour: Which one?");
    await full.asked("Choose with a digit or arrow keys · Enter goes on");
    full.enter("2");
    await full.until("2 of 2 · Sizes: Which?");
    full.press("Down", "Space", "Down", "Space", "Enter");
    await full.until("Enter sends all answers");
    full.press("Enter");
    expect(await full.until("So be it.")).toContain("Colour: blue · Sizes: small, huge");
    const told = await plain.until("Answered in another client: Colour: blue Sizes: small, huge");
    // The line of the asking call does not interrupt its question.
    expect(told).toMatch(/ {2}2 {2}blue\n {2}3 {2}Your own answer\nA number:/);
    expect(JSON.stringify(model.asked[1])).toContain(String.raw`Colour: blue\nSizes: small, huge`);
  });
});

test("C12: in print mode the model learns at once that no user is present", async () => {
  using place = home();
  await using server = await modelServer(asks, { text: "Then it is blue." });
  const { code, stdout } = await banyan(place, ["-p", "work", ...MODEL], server);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "Then it is blue.\n" });
  expect(JSON.stringify(server.asked[1])).toContain(NOBODY);
});
