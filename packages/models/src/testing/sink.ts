import type { ModelDriver } from "@banyan/core";
import type { ModelPart, ModelRequest, ModelSink } from "@banyan/core/drivers";

/** Keeps all batches that it gets. */
export class KeepingSink implements ModelSink {
  readonly batches: (readonly ModelPart[])[] = [];

  push(parts: readonly ModelPart[]): boolean {
    this.batches.push(parts);
    return true;
  }

  async ready(): Promise<void> {}

  get parts(): ModelPart[] {
    return joined(this.batches.flat());
  }
}

/** Joins adjacent fragments of the same text, to compare content regardless of cuts. */
export function joined(parts: readonly ModelPart[]): ModelPart[] {
  const whole: ModelPart[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    const continues =
      last !== undefined &&
      "text" in part &&
      "text" in last &&
      part.type === last.type &&
      part.type !== "provider" &&
      (part.type !== "call-input" || last.type !== "call-input" || part.index === last.index);
    if (continues) whole[whole.length - 1] = { ...last, text: last.text + part.text };
    else whole.push(part);
  }
  return whole;
}

export function say(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: "",
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
    tools: [],
    toolChoice: "auto",
    settings: {},
    ...more,
  };
}

/** All parts of a driver's answer to a request. */
export async function answerOf(driver: ModelDriver, request: ModelRequest, signal?: AbortSignal): Promise<ModelPart[]> {
  const sink = new KeepingSink();
  await driver.stream(request, sink, signal ?? new AbortController().signal);
  return sink.parts;
}
