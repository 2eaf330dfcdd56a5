import { inAnthropicsFormat } from "./anthropic.ts";
import { loop } from "./loop.ts";

export const loopAnthropic = inAnthropicsFormat(loop);
