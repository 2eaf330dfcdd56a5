import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Host, settingAt } from "@banyan/host";
import { memoryOffer } from "../show/memory-offer.ts";
import { wrap } from "../show/wrap.ts";
import type { Terminal } from "../terminal/terminal.ts";

/**
 * Offers memory, once (S26), in a chat of a person who has not decided about it: it is off until they agree. Nobody waits
 * for an answer, so that the prompt has the keys (T40); a person agrees by a command, and by nothing that they type else.
 */
export function offerMemory(terminal: Terminal, host: Host): void {
  const marker = join(host.places.state, "memory-offered");
  const [layer] = settingAt(host.configuration, ["memory", "enabled"])?.layers ?? [];
  if ((layer !== undefined && layer !== "built-in") || existsSync(marker)) return;
  terminal.write(`${wrap(memoryOffer(host), terminal.columns)}\n`);
  try {
    mkdirSync(host.places.state, { recursive: true, mode: 0o700 });
    writeFileSync(marker, "");
  } catch {
    // Where nothing can be kept, it is said again: no harm is done.
  }
}
