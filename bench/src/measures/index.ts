import type { Measure } from "../measure.ts";
import { append } from "./append.ts";
import { cache } from "./cache.ts";
import { callbacks } from "./callbacks.ts";
import { compaction } from "./compaction.ts";
import { concurrent } from "./concurrent.ts";
import { construct } from "./construct.ts";
import { day } from "./day.ts";
import { doors } from "./doors.ts";
import { eager } from "./eager.ts";
import { fanOut } from "./fan-out.ts";
import { fences } from "./fences.ts";
import { follow } from "./follow.ts";
import { frame } from "./frame.ts";
import { growth } from "./growth.ts";
import { hello } from "./hello.ts";
import { lists } from "./lists.ts";
import { loop } from "./loop.ts";
import { loopAnthropic } from "./loop-anthropic.ts";
import { loopGemini } from "./loop-gemini.ts";
import { loopResponses } from "./loop-responses.ts";
import { many } from "./many.ts";
import { nodes } from "./nodes.ts";
import { open } from "./open.ts";
import { paced } from "./paced.ts";
import { pacedAnthropic } from "./paced-anthropic.ts";
import { pacedGemini } from "./paced-gemini.ts";
import { pacedResponses } from "./paced-responses.ts";
import { page } from "./page.ts";
import { pageAtWork } from "./page-at-work.ts";
import { permission } from "./permission.ts";
import { postgres } from "./postgres.ts";
import { print } from "./print.ts";
import { recall } from "./recall.ts";
import { sandbox } from "./sandbox.ts";
import { snapshots } from "./snapshots.ts";
import { start } from "./start.ts";
import { stream } from "./stream.ts";
import { streamAnthropic } from "./stream-anthropic.ts";
import { streamGemini } from "./stream-gemini.ts";
import { streamPadded } from "./stream-padded.ts";
import { streamResponses } from "./stream-responses.ts";
import { telemetryMeasure } from "./telemetry.ts";
import { terminal } from "./terminal.ts";
import { turns } from "./turns.ts";
import { worktrees } from "./worktrees.ts";

export const measures: readonly Measure[] = [
  turns,
  stream,
  paced,
  loop,
  streamPadded,
  streamAnthropic,
  pacedAnthropic,
  loopAnthropic,
  streamGemini,
  pacedGemini,
  loopGemini,
  streamResponses,
  pacedResponses,
  loopResponses,
  concurrent,
  growth,
  cache,
  callbacks,
  eager,
  append,
  open,
  many,
  postgres,
  nodes,
  fanOut,
  lists,
  doors,
  fences,
  follow,
  permission,
  sandbox,
  worktrees,
  snapshots,
  recall,
  compaction,
  construct,
  hello,
  print,
  start,
  frame,
  telemetryMeasure,
  terminal,
  page,
  pageAtWork,
  day,
];
