import { inFormat } from "./in-format.ts";
import { stream } from "./stream.ts";

export const streamResponses = inFormat("responses", stream);
