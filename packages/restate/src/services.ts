import type { DrivenNode } from "@banyan/server";
import * as restate from "@restatedev/restate-sdk";

/**
 * Version of what is journalled: a turn under way is only gone on with by code that makes the same steps. It is part of the
 * address that Restate knows, so that turns of an older version go to servers of that version. Raise it with each change below.
 */
export const VERSION = 1;

/** A command that is written down in the database under an id, and the last event of the conversation before. */
export interface Accepted {
  readonly id: string;
  readonly after: number;
}

/** The turns of a conversation behind an event. */
interface Driven {
  readonly conversation: string;
  readonly after: number;
}

/** Names by which Restate calls them. */
export const CONVERSATION = "BanyanConversation";
const TURN = "BanyanTurn";

const HOUR = 60 * 60 * 1_000;

/**
 * A step may last as long as a person thinks: Restate would end and repeat one that takes longer than these, for ever. What keeps
 * failing is tried again for a day, and then waits for an operator.
 */
const OPTIONS = {
  inactivityTimeout: 24 * HOUR,
  abortTimeout: 24 * HOUR,
  retryPolicy: {
    initialInterval: 50,
    exponentiationFactor: 2,
    maxInterval: 10_000,
    maxAttempts: 8_640,
    onMaxAttempts: "pause",
  },
} as const;

/** What Restate calls at a node. Its journal holds ids and numbers of events, and nothing of what was said. */
export function servicesOf(node: DrivenNode) {
  const turn = restate.service({
    name: TURN,
    handlers: {
      /** Sees turns through: each step is journalled when the log has it. Cancelled, it interrupts them. */
      drive: restate.handlers.handler(OPTIONS, async (context: restate.Context, { conversation, after }: Driven) => {
        const runs = new Set<string>();
        const lost = context.request().attemptCompletedSignal;
        try {
          for (let place = { conversation, after, runs: [...runs] }, steps = 0; ; steps++) {
            const at = place;
            const { did, of = "", seq } = await context.run("step", () => node.next(at, lost));
            if (did === "rested") return { steps };
            if (did === "began") runs.add(of);
            if (did === "ended") runs.delete(of);
            place = { conversation, after: seq, runs: [...runs] };
          }
        } catch (error) {
          if (!(error instanceof restate.CancelledError)) throw error;
          await context.run("interrupt", async () => {
            for (const run of runs) {
              const id = `${run}-cancelled`;
              const command = { type: "run.interrupt" as const, id, conversation, run };
              await node.carryOut({ id: `owner ${id}`, conversation, command, by: "owner" });
            }
          });
          throw error;
        }
      }),
    },
  });
  const conversation = restate.object({
    name: CONVERSATION,
    handlers: {
      /** One command of a conversation after the other: it is short, and what it began is seen through elsewhere. */
      accept: restate.handlers.object.exclusive(
        OPTIONS,
        async (context: restate.ObjectContext, { id, after }: Accepted) => {
          const left = { id, conversation: context.key };
          if (await context.run("carry out", () => node.carryOutLeft(left)))
            context.serviceSendClient(turn).drive({ conversation: context.key, after });
        },
      ),
    },
  });
  return [conversation, turn];
}
