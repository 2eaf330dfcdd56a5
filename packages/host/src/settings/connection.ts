import type { AcpAgentOptions } from "@banyan/acp";
import type { AgentOptions, ModelSettings } from "@banyan/core";
import type { ResolveOptions, WireBounds } from "@banyan/models";
import type { Settings } from "./index.ts";

const MEBI = 1024 * 1024;

/** For how long the agent waits for its model, and how much of an answer it takes, as the settings say. */
export function patienceOf({ connection = {} }: Settings): Pick<AgentOptions, "retry" | "bounds"> {
  const { silence, retryTime, attempts, answer, arguments: ofCall } = connection;
  return {
    retry: {
      ...(silence === undefined ? {} : { idle: silence * 1_000 }),
      ...(retryTime === undefined ? {} : { time: retryTime * 1_000 }),
      ...(attempts === undefined ? {} : { attempts }),
    },
    bounds: {
      ...(answer === undefined ? {} : { answer: answer * MEBI }),
      ...(ofCall === undefined ? {} : { arguments: ofCall * MEBI }),
    },
  };
}

/** For how long an agent of another program may be silent: while it starts and while it works. Without a setting, as `acpAgent` says. */
export function agentPatience({ connection: { silence } = {} }: Settings): AcpAgentOptions["patience"] {
  return silence === undefined ? undefined : { start: silence * 1_000, work: silence * 1_000 };
}

/** How much is read of an answer on its way, as the settings say. */
function wireBoundsOf({ connection = {} }: Settings): WireBounds | undefined {
  const { line, answer } = connection;
  if (line === undefined && answer === undefined) return undefined;
  return {
    ...(line === undefined ? {} : { line: line * MEBI }),
    ...(answer === undefined ? {} : { answer: answer * MEBI }),
  };
}

/** What the user knows of models. */
export function modelNames(settings: Settings): Pick<ResolveOptions, "aliases" | "overrides" | "bounds"> {
  const { aliases = {}, models = {} } = settings;
  return { aliases, overrides: models, bounds: wireBoundsOf(settings) };
}

/** What the settings say of every response. */
export function modelSettings({ temperature, maxTokens }: Settings): ModelSettings {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}
