/** Traits of a model of the Responses API, found by its name. The traits decide which settings the model accepts. */
export interface ModelTraits {
  /**
   * True if the model reasons. It can return encrypted reasoning, and accepts no sampling settings while it reasons.
   */
  readonly reasons: boolean;
  /** Accepted efforts, least first. Absent: unknown, so any effort is sent. */
  readonly efforts?: readonly string[];
  /** True if the model accepts sampling settings when it does not reason (effort `none`). */
  readonly samples: boolean;
}

const LEVELS = ["minimal", "low", "medium", "high", "xhigh", "max"];

/** https://platform.openai.com/docs/guides/latest-model */
export function openAITraits(model: string): ModelTraits {
  if (/^o\d+(-|$)/.test(model)) return { reasons: true, samples: false };
  const version = /^gpt-(\d+)(?:\.(\d+))?(?:-(.+))?$/.exec(model);
  const [major, minor, variant = ""] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0), version?.[3]];
  if (major < 5 || (version?.[2] === undefined && variant.startsWith("chat")))
    return { reasons: false, samples: false };
  if (major > 5) {
    // These models can answer without reasoning.
    const isConfigurable = /^gpt-(6\.1-terra|6-luna|6-sol)(-\d|$)/.test(model);
    const efforts = ["low", "medium", "high", "xhigh", "max"];
    return { reasons: true, samples: isConfigurable, efforts: isConfigurable ? ["none", ...efforts] : efforts };
  }
  const isStandard = /^((mini|nano|sol|luna|terra)(-\d{4}-\d\d-\d\d)?|\d{4}-\d\d-\d\d)?$/.test(variant);
  return { reasons: true, samples: minor > 0, ...(isStandard ? { efforts: effortsOfGpt5(minor) } : {}) };
}

function effortsOfGpt5(minor: number): readonly string[] {
  if (minor === 0) return ["minimal", "low", "medium", "high"];
  const efforts = ["none", "low", "medium", "high"];
  if (minor === 1) return efforts;
  return minor < 6 ? [...efforts, "xhigh"] : [...efforts, "xhigh", "max"];
}

/** https://docs.x.ai/docs/guides/reasoning */
export function xaiTraits(model: string): ModelTraits {
  // These models refuse an effort, whatever its value.
  const takesNone = /^grok-4\.20(-\d{4})?-(non-)?reasoning$/.test(model);
  const efforts = ["none", "low", "medium", "high", ...(model === "grok-4.6" ? ["xhigh"] : [])];
  return { reasons: true, samples: true, efforts: takesNone ? [] : efforts };
}

/**
 * Returns the nearest accepted effort: the same, else a lower one, else a higher one. `none` replaces no other effort.
 */
export function nearestEffort(effort: string | undefined, { efforts }: ModelTraits): string | undefined {
  if (effort === undefined || efforts === undefined || efforts.includes(effort)) return effort;
  const index = LEVELS.indexOf(effort);
  return [...LEVELS.slice(0, Math.max(index, 0)).toReversed(), ...LEVELS.slice(index + 1)].find((level) =>
    efforts.includes(level),
  );
}
