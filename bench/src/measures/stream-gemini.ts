import { inFormat } from "./in-format.ts";
import { stream } from "./stream.ts";

export const streamGemini = inFormat("gemini", stream);
