import type { Measure } from "../measure.ts";
import { loop } from "./loop.ts";
import { paced } from "./paced.ts";
import { stream } from "./stream.ts";
import { turns } from "./turns.ts";

export const measures: readonly Measure[] = [turns, stream, paced, loop];
