import { inFormat } from "./in-format.ts";
import { paced } from "./paced.ts";

export const pacedGemini = inFormat("gemini", paced);
