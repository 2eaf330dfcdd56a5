import { type ClientContext, methods, type SessionConfigOption } from "@agentclientprotocol/sdk/unstable";
import { ModelError } from "@banyan/core";
import type { AcpAgent } from "../acp-agent.ts";

/** What can be chosen in a session, as its agent says. */
export interface OfferedOptions {
  readonly configOptions?: readonly SessionConfigOption[] | null | undefined;
}

/**
 * Lets an agent think as much in a session as is wanted of it. Rejects with a `ModelError` where it knows no such effort: to go on
 * with another one would cost what nobody wanted.
 */
export async function chooseEffort(
  { name, effort }: AcpAgent,
  connection: ClientContext,
  { id: sessionId, configOptions }: OfferedOptions & { readonly id: string },
): Promise<void> {
  if (effort === undefined) return;
  const option = configOptions?.find(({ category, type }) => category === "thought_level" && type === "select");
  const values =
    option?.type === "select" ? option.options.flatMap((each) => ("group" in each ? each.options : each)) : [];
  const chosen = values.find(({ value, name: called }) => value === effort || called.toLowerCase() === effort);
  if (!option || !chosen) {
    const known = values.map(({ value }) => value).join(", ");
    const sentence =
      known === ""
        ? "It offers none: leave it out."
        : `It knows ${known}; what stands behind the colon must be one of them.`;
    throw new ModelError("invalid-request", `The agent "${name}" has no effort "${effort}". ${sentence}`, {
      retryable: false,
    });
  }
  if (option.type === "select" && option.currentValue === chosen.value) return;
  const configId = option.id;
  await connection.request(methods.agent.session.setConfigOption, { sessionId, configId, value: chosen.value });
}
