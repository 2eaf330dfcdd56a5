import { createId, Session } from "@banyan/core";
import type { EventBody } from "@banyan/core/conversation";
import fc from "fast-check";
import { expect, test } from "vitest";
import { KeptOutline, snapshotOf } from "./values.ts";

const usage = { input: 5, cached: 1, cacheWrite: 2, output: 3, reasoning: 1 };

/** Changes that a conversation can have, each for the message that the number chooses. */
const CHANGES = [
  "ask",
  "begin",
  "stream",
  "complete",
  "call",
  "end call",
  "star",
  "label",
  "remove",
  "abandon",
] as const;

function carryOut(session: Session, change: (typeof CHANGES)[number], chosen: number): void {
  const { state } = session;
  const messages = [...state.messages.values()];
  const message = messages[chosen % Math.max(1, messages.length)];
  const parentId = message?.id ?? null;
  const id = createId();
  const assistants = messages.filter(({ role }) => role === "assistant");
  const answer = assistants[chosen % Math.max(1, assistants.length)];
  const write = (event: EventBody) => void session.commit([event]);
  switch (change) {
    case "ask":
      return write({
        type: "message.added",
        message: id,
        parentId,
        role: "user",
        parts: [{ type: "text", text: "é?" }],
      });
    case "begin":
      return write({ type: "message.started", message: id, parentId, run: `r${chosen % 3}`, model: "a/b" });
  }
  if (message && change === "star")
    return write({ type: "message.starred", message: message.id, starred: chosen % 2 > 0 });
  if (message && change === "label")
    return write({ type: "message.labelled", message: message.id, label: `l${chosen}` });
  if (message && change === "remove") return write({ type: "message.removed", message: message.id });
  if (answer?.role !== "assistant") return;
  const source = { run: answer.run, agent: "a", depth: 0 };
  const call = answer.calls[0]?.id;
  switch (change) {
    case "stream":
      return session.stream([{ type: "text.delta", message: answer.id, part: 0, text: "more" }], source);
    case "complete":
      return write({
        type: "message.completed",
        message: answer.id,
        parts: [{ type: "text", text: "B" }],
        finish: "stop",
        usage,
      });
    case "call":
      return write({ type: "call.pending", message: answer.id, call: id, tool: "read", inputText: "{}" });
    case "end call":
      if (call !== undefined) write({ type: "call.failed", message: answer.id, call, output: "no" });
      return;
    case "abandon":
      // Only the last message of a branch is ever abandoned.
      if (!state.children.has(answer.id)) write({ type: "message.abandoned", message: answer.id, reason: "again" });
  }
}

test("V8 a kept outline gives the same snapshots as a new one, whatever has changed between two snapshots", () => {
  const step = fc.tuple(fc.constantFrom(...CHANGES), fc.nat(1000), fc.boolean());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const session = Session.inMemory();
      const kept = new KeptOutline();
      session.listen({
        items: (items) => {
          for (const item of items)
            if ("message" in item && typeof item.message === "string") kept.changed(item.message);
        },
        ended: () => {},
      });
      for (const [change, chosen, isWatched] of steps) {
        carryOut(session, change, chosen);
        if (!isWatched) continue;
        const of = { cursor: session.cursor };
        const bytes = Buffer.concat(kept.snapshot(session.state, of));
        expect(JSON.parse(bytes.toString())).toEqual(JSON.parse(JSON.stringify(snapshotOf(session.state, of))));
      }
    }),
    { numRuns: 200 },
  );
});
