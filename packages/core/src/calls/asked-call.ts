import type { EventBody } from "../conversation/event.ts";
import { type About, type Call, newCall } from "../conversation/message.ts";
import type { Json } from "../conversation/part.ts";
import { assistantMessage } from "../run/branch.ts";
import { notify, type TurnRun } from "../run/run.ts";

/** A call as the model wrote it. */
export interface AskedCall {
  readonly id: string;
  readonly tool: string;
  readonly inputText: string;
  readonly input: Json | undefined;
  /** The tool that the model called, if that tool forwarded this call to another tool. */
  readonly via?: string | undefined;
}

/** Returns the first event of a call, before or after the check of its arguments. */
export function pendingCall(message: string, call: AskedCall, about?: About): EventBody {
  const { id, tool, inputText, input, via } = call;
  const pending = { type: "call.pending", message, call: id, tool, inputText } as const;
  return {
    ...pending,
    ...(via !== undefined && { via }),
    ...(input !== undefined && { input }),
    ...(about && { about }),
  };
}

/** Calls the callback `onCalls` with the calls as the model wrote them. */
export async function tellCalls(run: TurnRun, id: string, asked: readonly AskedCall[]): Promise<void> {
  const calls = asked.map(({ id, tool, inputText, input }): Call => {
    return { ...newCall(id, tool), inputText, ...(input !== undefined && { input }) };
  });
  await notify(run, "onCalls", calls, { ...assistantMessage(run.session, id), calls });
}
