import { expect, test } from "vitest";
import { createId } from "../conversation/id.ts";
import { textOf } from "../conversation/message.ts";
import { Session } from "../session/session.ts";
import { type Scene, scriptedModel, stall, text } from "../testing/scripted-model.ts";
import { Agent } from "./agent.ts";

/** A conversation that can be shortened, with what is answered then. */
async function talked(...then: readonly Scene[]) {
  const model = scriptedModel(["Because ".padEnd(2_000, "it is warm, "), "Two.", "Three.", "Four.", ...then]);
  const [agent, session] = [new Agent({ model }), Session.inMemory()];
  for (const said of ["One?", "Two?", "Three?", "Four?"]) await agent.send(said, { session });
  return { agent, session, model };
}

test("B42: the summary that somebody asks for keeps what they want, in the words of the request alone", async () => {
  const { agent, session, model } = await talked("Sum.");
  expect(await agent.compact({ session, keep: "every colour" })).toBeUndefined();
  const asked = model.requests.at(-1)?.messages.at(-1);
  expect(JSON.stringify(asked)).toMatch(
    /Answer with the summary alone; .* keep what the person asks .*:\\nevery colour"/,
  );
  const messages = [...session.state.messages.values()];
  expect(messages.filter(({ role }) => role === "summary").map(textOf)).toEqual(["Sum."]);
  expect(messages.some((message) => textOf(message).includes("colour"))).toBe(false);
});

test("B42: the run of a summary has the id that is given, and is interrupted alone", async () => {
  const { agent, session } = await talked([text("Su"), stall()], [text("Five"), stall()]);
  const id = createId();
  const shortening = agent.compact({ session, id });
  const [first = ""] = session.state.messages.keys();
  const other = agent.send("And else?", { session, at: first });
  await expect.poll(() => session.state.runs.size).toBe(1);
  expect(session.interrupt(id)).toBe(1);
  expect(await shortening).toBe("interrupted by the user");
  expect(session.state.runs.size).toBe(1);
  session.interrupt();
  await other;
});
