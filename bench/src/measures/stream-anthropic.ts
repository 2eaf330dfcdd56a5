import { inAnthropicsFormat } from "./anthropic.ts";
import { stream } from "./stream.ts";

export const streamAnthropic = inAnthropicsFormat(stream);
