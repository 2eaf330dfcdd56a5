import { inFormat } from "./in-format.ts";
import { paced } from "./paced.ts";

export const pacedResponses = inFormat("responses", paced);
