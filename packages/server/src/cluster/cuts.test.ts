import { whyNoPostgres, wireTo } from "@banyan/store/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isDone, Nodes, say } from "../testing/nodes.fixture.ts";

const LONG = Boolean(process.env.BANYAN_LONG) && whyNoPostgres === undefined;

/** The server whose database connections break: the one that runs the turn, or the one that got the command. */
const WHOSE = ["that works", "that is asked"] as const;

describe.skipIf(!LONG)("servers whose connections to the database break in the middle of a turn", () => {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await Nodes.onOneDatabase();
  });
  afterAll(() => nodes.remove());

  for (const whose of WHOSE)
    for (const when of ["before", "after"] as const)
      test(`those of the server ${whose}, ${when} each statement was carried out: the turn comes to its end, nothing is lost, and nothing is had twice`, async () => {
        const wire = await wireTo(() => Number(new URL(nodes.url).port));
        onTestFinished(() => wire[Symbol.dispose]());
        const behindWire = await nodes.start({ url: wire.via(nodes.url) });
        const other = await nodes.start();
        const [works, isAsked] = whose === "that works" ? [behindWire, other] : [other, behindWire];
        const [owner, asker] = [await nodes.client(works), await nodes.client(isAsked)];

        /** A turn with two calls with outside effects that breaks all connections at a piece. Returns how many pieces. */
        const turn = async (piece: number): Promise<number> => {
          const conversation = `${whose} ${when} ${piece}`;
          await owner.ask("conversation.create", { conversation });
          await owner.watch(conversation);
          const had = nodes.acts.length;
          wire.cutAt(piece, when);
          const { message } = await asker.ask("turn.say", { conversation, parts: say("go") });
          await owner.until(() => isDone(owner, conversation));
          await asker.watch(conversation);
          await asker.until(() => isDone(asker, conversation));
          const { sent } = wire;
          const { events, wrong } = await nodes.stored(conversation);
          expect(wrong, conversation).toEqual([]);
          expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
          // No node took over the conversation, and no node had to continue the turn.
          expect(new Set(events.map(({ epoch }) => epoch))).toEqual(new Set([1]));
          expect(events.filter(({ type }) => type === "run.started")).toHaveLength(1);
          const added = events.filter((event) => event.type === "message.added" && event.role === "user");
          expect(added).toMatchObject([{ message }]);
          expect(events.filter(({ type }) => type === "call.completed")).toHaveLength(2);
          expect(nodes.acts).toHaveLength(had + 2);
          expect(new Set(nodes.acts).size).toBe(nodes.acts.length);
          return sent;
        };

        const all = await turn(0);
        expect(all).toBeGreaterThan(5);
        for (let piece = 1; piece <= all; piece++) await turn(piece);
        console.info(`the server ${whose}, broken ${when}: ${all} pieces`);
      });
});
