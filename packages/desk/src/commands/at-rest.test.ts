import { Agent, pathTo, Session, say, textOf } from "@banyan/core";
import { collect, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { whileAtRest } from "./at-rest.ts";

/** A conversation with one exchange, and its end. */
async function conversation() {
  const session = Session.inMemory();
  const agent = new Agent({ model: scriptedModel(() => "Done.") });
  await agent.send("Write", { session });
  return { session, agent, leaf: session.state.leaf ?? "" };
}

const tell = (session: Session, parentId: string) => session.add("Taken back.", { at: parentId, author: "system" });

test("T29: a turn that begins while files are restored waits, and continues below the message about the files", async () => {
  const { session, agent, leaf } = await conversation();
  const [isPutBack, putBack] = [Promise.withResolvers<void>(), { changes: [], problems: [] }];
  const taken = whileAtRest(session, leaf, async () => {
    await isPutBack.promise;
    return { ...putBack, message: await tell(session, leaf) };
  });
  const turns = [leaf, undefined].map((at) => collect(agent.chat(say("Go on"), { session, ...(at && { at }) })));
  await new Promise(setImmediate);
  expect(session.state.runs.size).toBe(0);
  isPutBack.resolve();
  const { message = "" } = await taken;
  await Promise.all(turns);
  const path = pathTo(session.state, session.state.leaf);
  expect(path.map(textOf).slice(0, 5)).toEqual(["Write", "Done.", "Taken back.", "Go on", "Done."]);
  expect(path[2]?.id).toBe(message);
});

test("T29: no file is restored if a turn is about to begin that the log does not contain yet", async () => {
  const { session, leaf } = await conversation();
  const turn = await session.runs.begin(leaf);
  const put: string[] = [];
  const putBack = async () => {
    put.push("back");
    return { changes: [], problems: [] };
  };
  await expect(whileAtRest(session, leaf, putBack)).rejects.toThrow("An agent works on this branch.");
  expect(put).toEqual([]);
  turn.end(leaf);
  // The branch is free again, also after a failure.
  await expect(whileAtRest(session, leaf, () => Promise.reject(new Error("No disk.")))).rejects.toThrow("No disk.");
  expect(await whileAtRest(session, leaf, putBack)).toEqual({ changes: [], problems: [] });
  await session.close();
  await expect(whileAtRest(session, leaf, putBack)).rejects.toThrow("This session is closed");
});
