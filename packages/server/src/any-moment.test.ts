import { setTimeout as sleep } from "node:timers/promises";
import type { Mirror } from "@banyan/client";
import type { AgentOptions } from "@banyan/core";
import {
  agentPlaying,
  COMMANDS,
  type Command,
  Moments,
  modelPlaying,
  type SceneName,
  Starts,
  WHOLE,
} from "@banyan/core/testing/moments";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clientOf } from "./testing/moments-client.fixture.ts";
import { plays, problemsOf } from "./testing/played.fixture.ts";
import { serving } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const LONG = process.env.BANYAN_LONG === "1";
/** Milliseconds: the long list takes six minutes on an idle machine, and twenty on a busy one. */
const PATIENCE = (LONG ? 30 : 3) * 60_000;

/** The number of conversations at the same time, each with three clients. */
const STAGES = 6;

interface Play {
  readonly names: readonly SceneName[];
  readonly plan: readonly Command[];
}

/** A server for conversations, each with its own model. */
async function theatre() {
  const models: Record<string, AgentOptions["model"]> = {};
  const played = new Map<string, Moments>();
  const starts = new Starts();
  const { server, host, log } = await serving(
    { ...agentPlaying(starts, () => sleep(1)), model: modelPlaying([]) },
    { models },
  );
  const { newSession } = host;
  host.newSession = async () => {
    const session = await newSession();
    session.listen({ items: ({ length }) => played.get(session.id)?.heard(length), ended: () => {} });
    return session;
  };
  return { server, models, played, starts, log };
}

/** Three clients that play one conversation after another, and a client that reads their logs. */
async function stage({ server, models, played }: Awaited<ReturnType<typeof theatre>>) {
  const clients = await Promise.all([0, 1, 2].map(() => TestClient.connect(server)));
  const [first, reader] = [clients[0] as TestClient, await TestClient.connect(server)];
  const hasMore = async (conversation: string, watched: readonly Mirror[]) => {
    const { state, cursor } = await reader.watch(conversation);
    const { runs, inbox } = state;
    const isOver = runs.size === 0 && inbox.length === 0;
    await reader.forget(conversation);
    await Promise.all(watched.map((mirror, index) => clients[index]?.until(() => mirror.cursor.seq >= cursor.seq)));
    return !isOver;
  };
  return async ({ names, plan }: Play): Promise<string[]> => {
    const { conversation } = await first.ask("conversation.create", {});
    const model = `play/${conversation}`;
    models[model] = modelPlaying(names, { pace: 1 });
    await first.ask("model.use", { conversation, model });
    const watched = await Promise.all(clients.map((client) => client.watch(conversation)));
    const moments = new Moments(
      watched.map((mirror, index) => clientOf(clients[index] as TestClient, conversation, mirror)),
      plan,
    );
    played.set(conversation, moments);
    await moments.play(() => sleep(20), 3_000);
    // Another client's command may have begun a run that the first client has not heard of: the server knows.
    while (await hasMore(conversation, watched)) await moments.bringToEnd(() => sleep(20), 3_000);
    const problems = await problemsOf(
      moments,
      conversation,
      reader,
      watched.map((mirror) => ({ mirror })),
    );
    played.delete(conversation);
    delete models[model];
    for (const client of clients) await client.forget(conversation);
    await first.ask("conversation.remove", { conversation });
    return problems;
  };
}

/** Plays all of these conversations, and returns their faults. */
async function problemsIn(waiting: readonly Play[]): Promise<string[]> {
  const house = await theatre();
  const problems: string[] = [];
  const open = [...waiting];
  await Promise.all(
    Array.from({ length: STAGES }, async () => {
      const play = await stage(house);
      for (let next = open.pop(); next; next = open.pop()) {
        const came = await play(next);
        if (came.length > 0) problems.push(...came, JSON.stringify(next));
      }
    }),
  );
  return [...problems, ...house.starts.problems, ...house.log];
}

describe("over the wire, commands of three clients at any moment of a turn", () => {
  test(
    "F25: one run is on a branch, each call has one start and one result, each text is heard once, and each client sees all of it",
    async () => {
      const seed = Number(process.env.BANYAN_SEED ?? Date.now() % 2 ** 31);
      const problems = await problemsIn(fc.sample(plays(150), { seed, numRuns: LONG ? 1_500 : 40 }));
      expect(problems, `seed ${seed}`).toEqual([]);
    },
    PATIENCE,
  );

  test(
    "F25: each of them, in a whole turn",
    async () => {
      const moments = LONG ? Array.from({ length: 25 }, (_, index) => 4 * index) : [1];
      const each = COMMANDS.flatMap((name, index) =>
        moments.map((moment) => {
          const at = LONG ? moment : (index * 17) % 100;
          return { names: WHOLE, plan: [0, 7, 14].map((client) => ({ name, at: at + client, what: client })) };
        }),
      );
      expect(await problemsIn(each)).toEqual([]);
    },
    PATIENCE,
  );
});
