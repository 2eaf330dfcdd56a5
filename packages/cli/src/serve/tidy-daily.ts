import type { Host } from "@banyan/host";
import { problemOf } from "../problem.ts";

const DAY = 86_400_000;

/**
 * Has a host that runs for days remove each day what has grown too old, and tells what, until the answer is disposed of
 * (B64). The process does not wait for it.
 */
export function tidyDaily(host: Pick<Host, "tidy">, tell: (sentence: string) => void): Disposable {
  const tidy = async () => {
    for (const sentence of await host.tidy()) tell(sentence);
  };
  const timer = setInterval(() => tidy().catch((error: unknown) => tell(problemOf(error).message)), DAY).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
