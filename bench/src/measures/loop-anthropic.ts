import { inFormat } from "./in-format.ts";
import { loop } from "./loop.ts";

export const loopAnthropic = inFormat("anthropic", loop);
