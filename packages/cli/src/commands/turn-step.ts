import type { TurnStep } from "@banyan/client/actions";
import { resume, retry, say } from "@banyan/core";
import type { AfterCommand } from "./command.ts";

/** Converts a turn that a slash command begins to the form that chats and print mode use. */
export function nextTurn({
  turn,
  text,
  at,
  model,
  agent,
  asIs,
  goal,
}: TurnStep): Extract<AfterCommand, { type: "turn" }> {
  const directive =
    turn === "resume" ? resume() : turn === "say" ? say(text ?? "") : text === undefined ? retry() : retry(text);
  return {
    type: "turn",
    directive,
    ...(at !== undefined && { at }),
    ...(model !== undefined && { model }),
    ...(agent !== undefined && { agent }),
    ...(asIs !== undefined && { asIs }),
    ...(goal !== undefined && { goal }),
  };
}
