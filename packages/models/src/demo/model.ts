import type { ModelDriver } from "@banyan/core";
import { NOTHING } from "../catalogue.ts";
import { reply } from "./reply.ts";
import { speak } from "./speak.ts";

export interface DemoOptions {
  /** Milliseconds for each word (default 8); 0 says everything at once. */
  readonly pace?: number;
}

/**
 * A model of rules, for when no real one can be reached: it understands a handful of plain requests about the files of
 * a folder, calls the tools for them and tells what came back. It thinks about nothing, and says so when asked.
 */
export function demoModel({ pace = 8 }: DemoOptions = {}): ModelDriver {
  return {
    id: "demo/offline",
    family: "demo",
    price: NOTHING,
    async stream(request, sink, signal) {
      signal.throwIfAborted();
      await speak(reply(request), request, pace, sink, signal);
    },
  };
}
