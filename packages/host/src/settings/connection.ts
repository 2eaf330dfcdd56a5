import type { AcpAgentOptions } from "@banyan/acp";
import type { AgentOptions, Limits, ModelSettings } from "@banyan/core";
import type { ResolveOptions, WireBounds } from "@banyan/models";
import type { Settings } from "./schema.ts";

const MEBI = 1024 * 1024;

/** Converts settings to an agent's timeouts for its model and limits for answers. */
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

/** Returns timeouts of another program's silent agent, if set. */
export function agentPatience({ connection: { silence } = {} }: Settings): AcpAgentOptions["patience"] {
  return silence === undefined ? undefined : { start: silence * 1_000, work: silence * 1_000 };
}

function wireBoundsOf({ connection = {} }: Settings): WireBounds | undefined {
  const { line, answer } = connection;
  if (line === undefined && answer === undefined) return undefined;
  return {
    ...(line === undefined ? {} : { line: line * MEBI }),
    ...(answer === undefined ? {} : { answer: answer * MEBI }),
  };
}

/** Returns the user's short names, overrides and limits for models. */
export function modelNames(settings: Settings): Pick<ResolveOptions, "aliases" | "overrides" | "bounds"> {
  const { aliases = {}, models = {} } = settings;
  return { aliases, overrides: models, bounds: wireBoundsOf(settings) };
}

/** Returns the settings that apply to every response of a model. */
export function modelSettings({ temperature, topP, seed, maxTokens }: Settings): ModelSettings {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(seed === undefined ? {} : { seed }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}

/** Converts limits in settings (seconds) to limits of a turn (milliseconds). */
export function limitsOf({ limits = {} }: Settings): Limits {
  const { time, ...counts } = limits;
  return { ...counts, ...(time === undefined ? {} : { time: time * 1_000 }) };
}
