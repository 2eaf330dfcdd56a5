import type { ModelDriver } from "@banyan/core";
import type { ModelPart, ModelRequest, ModelSink } from "@banyan/core/drivers";

/** Keeps what it is given, batch by batch. */
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

/** Parts with neighbours that continue the same text put together: what they say, however they were cut. */
export function joined(parts: readonly ModelPart[]): ModelPart[] {
  const whole: ModelPart[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    const goesOn =
      last !== undefined &&
      "text" in part &&
      "text" in last &&
      part.type === last.type &&
      (part.type !== "call-input" || last.type !== "call-input" || part.index === last.index);
    if (goesOn) whole[whole.length - 1] = { ...last, text: last.text + part.text };
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

/** Everything that a driver says to a request. */
export async function answerOf(driver: ModelDriver, request: ModelRequest, signal?: AbortSignal): Promise<ModelPart[]> {
  const sink = new KeepingSink();
  await driver.stream(request, sink, signal ?? new AbortController().signal);
  return sink.parts;
}
