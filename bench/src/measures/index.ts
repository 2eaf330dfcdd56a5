import type { Measure } from "../measure.ts";
import { append } from "./append.ts";
import { fanOut } from "./fan-out.ts";
import { fences } from "./fences.ts";
import { follow } from "./follow.ts";
import { frame } from "./frame.ts";
import { loop } from "./loop.ts";
import { many } from "./many.ts";
import { open } from "./open.ts";
import { paced } from "./paced.ts";
import { page } from "./page.ts";
import { recall } from "./recall.ts";
import { start } from "./start.ts";
import { stream } from "./stream.ts";
import { turns } from "./turns.ts";

export const measures: readonly Measure[] = [
  turns,
  stream,
  paced,
  loop,
  append,
  open,
  many,
  fanOut,
  fences,
  follow,
  recall,
  start,
  frame,
  page,
];
