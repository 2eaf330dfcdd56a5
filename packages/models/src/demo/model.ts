import type { ModelDriver } from "@banyan/core";
import { NOTHING } from "../provider/catalogue.ts";
import { reply } from "./reply.ts";
import { streamReply } from "./speak.ts";

export interface DemoOptions {
  /** Milliseconds per word (default 8); 0 sends everything at once. */
  readonly pace?: number;
}

/**
 * A model of fixed rules, for use without a real model. Understands a few plain requests about files of a folder,
 * calls the tools for them and reports the results. Does not think, and answers this when asked.
 */
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
