import type { DrivenNode } from "@banyan/server";
import * as restate from "@restatedev/restate-sdk";

/**
 * Version of the journal: only code with the same steps can continue a running turn. The version is part of the address
 * that Restate knows, so that turns of an older version go to servers of that version. Raise it with each change below.
 */
export const VERSION = 1;

/** The id of a command in the database, and the `seq` of the conversation's last event before it. */
export interface AcceptedCommand {
  readonly id: string;
  readonly after: number;
}

/** The turns of a conversation after an event. */
interface TurnsToDrive {
  readonly conversation: string;
  readonly after: number;
}

/** Service names in Restate. */
export const CONVERSATION = "BanyanConversation";
const TURN = "BanyanTurn";

const HOUR = 60 * 60 * 1_000;

/**
 * A step may last as long as a user thinks, and Restate would end and repeat a step beyond these timeouts for ever. A
 * failing step is retried for a day, then waits for an operator.
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

/** The services that Restate calls at a node. The journal holds only ids and numbers of events, no content. */
export function servicesOf(node: DrivenNode) {
  const turn = restate.service({
    name: TURN,
    handlers: {
      /** Completes turns: each step is journalled once the log has it. A cancellation interrupts the turns. */
      drive: restate.handlers.handler(
        OPTIONS,
        async (context: restate.Context, { conversation, after }: TurnsToDrive) => {
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
        },
      ),
    },
  });
  const conversation = restate.object({
    name: CONVERSATION,
    handlers: {
      /** Carries out the commands of a conversation in order. The turn that a command begins runs in the other service. */
      accept: restate.handlers.object.exclusive(
        OPTIONS,
        async (context: restate.ObjectContext, { id, after }: AcceptedCommand) => {
          const left = { id, conversation: context.key };
          if (await context.run("carry out", () => node.carryOutLeft(left)))
            context.serviceSendClient(turn).drive({ conversation: context.key, after });
        },
      ),
    },
  });
  return [conversation, turn];
}
