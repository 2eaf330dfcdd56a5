import type { DrivenNode } from "@banyan/server";
import * as restate from "@restatedev/restate-sdk";

/**
 * Version of Restate's journal. It is part of the address that Restate calls, so that servers with older code finish
 * older turns. Raise the version with each change of the steps below.
 */
export const VERSION = 1;

/**
 * A command, by its id in the database, with the `seq` of the last event that the conversation had before the command.
 */
export interface AcceptedCommand {
  readonly id: string;
  readonly after: number;
}

interface TurnsToDrive {
  readonly conversation: string;
  readonly after: number;
}

export const CONVERSATION = "BanyanConversation";
const TURN = "BanyanTurn";

const HOUR = 60 * 60 * 1_000;

/**
 * Timeouts longer than a user thinks: Restate would repeat a longer step for ever. A failing step retries for a day.
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

/** Returns the services of one server for Restate. The journal holds only ids and numbers of events, no content. */
export function servicesOf(node: DrivenNode) {
  const turn = restate.service({
    name: TURN,
    handlers: {
      /** Completes turns: each step is journalled after the log has it. A cancellation interrupts the turns. */
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
      /** Carries out a conversation's commands in order. A turn that a command begins runs in the other service. */
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
