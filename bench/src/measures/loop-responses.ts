import { inFormat } from "./in-format.ts";
import { loop } from "./loop.ts";

export const loopResponses = inFormat("responses", loop);
