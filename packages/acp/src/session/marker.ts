import type { ModelPart, PromptMessage } from "@banyan/core/drivers";

/** Identifies the agent's session that contains the conversation up to a response. The response stores this marker. */
export interface Marker {
  /** Model id, such as `acp/claude`. */
  readonly agent: string;
  readonly session: string;
  /** Cost of the session so far, in US dollars. */
  readonly cost?: number;
}

const PROVIDER = "acp";

/** Returns the message parts that store a marker in a response. */
export function markedParts({ agent, session, cost }: Marker): readonly ModelPart[] {
  const provider = { [PROVIDER]: { agent, session, ...(cost !== undefined && { cost }) } };
  return [
    { type: "text", text: "" },
    { type: "part-end", provider },
  ];
}

/** Returns the markers of an agent on a branch, oldest first, each with the index of its message. */
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
