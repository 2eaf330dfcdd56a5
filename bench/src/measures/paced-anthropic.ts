import { inAnthropicsFormat } from "./anthropic.ts";
import { paced } from "./paced.ts";

export const pacedAnthropic = inAnthropicsFormat(paced);
