import type { ModelDriver } from "@banyan/core";
import { NOTHING } from "../provider/catalogue.ts";
import { reply } from "./reply.ts";
import { streamReply } from "./speak.ts";

export interface DemoOptions {
  /** Milliseconds per word (default 8); 0 sends everything at once. */
  readonly pace?: number;
}

/** Creates a model driver with fixed rules for a few plain requests about files, for use without a real model. */
export function demoModel({ pace = 8 }: DemoOptions = {}): ModelDriver {
  return {
    id: "demo/offline",
    family: "demo",
    price: NOTHING,
    async stream(request, sink, signal) {
      signal.throwIfAborted();
      await streamReply(reply(request), request, pace, sink, signal);
    },
  };
}
