import type { ModelPart, PromptMessage } from "@banyan/core/drivers";

/** Where a turn was left: the session in which an agent knows all that was said down to this response. */
export interface Marker {
  /** `acp/claude`. */
  readonly agent: string;
  readonly session: string;
  /** US dollars that the session had cost. */
  readonly cost?: number;
}

const PROVIDER = "acp";

/** The parts that put a marker at the end of a response. */
export function markedParts({ agent, session, cost }: Marker): readonly ModelPart[] {
  const provider = { [PROVIDER]: { agent, session, ...(cost !== undefined && { cost }) } };
  return [
    { type: "text", text: "" },
    { type: "part-end", provider },
  ];
}

/** The markers of an agent along a path, the oldest first, each with where its response stands. */
export function markersIn(
  messages: readonly PromptMessage[],
  agent: string,
): readonly { readonly at: number; readonly marker: Marker }[] {
  return messages.flatMap((message, at) => {
    const marker = message.role === "assistant" ? markerOf(message, agent) : undefined;
    return marker ? [{ at, marker }] : [];
  });
}

function markerOf({ parts }: Extract<PromptMessage, { role: "assistant" }>, own: string): Marker | undefined {
  for (const part of parts) {
    const { agent, session, cost } = part.provider?.[PROVIDER] ?? {};
    if (agent !== own || typeof session !== "string") continue;
    return { agent, session, ...(typeof cost === "number" && { cost }) };
  }
  return undefined;
}
