import { Writable } from "node:stream";
import { emptyConversation, type FeedItem, reduce } from "@banyan/core/conversation";
import { FullTerminal } from "../full-terminal.ts";

/** Cost of a frame while an answer streams. */
export interface FrameCost {
  /** Average bytes written. */
  readonly bytes: number;
  /** Average CPU time in microseconds. */
  readonly cpu: number;
  /** All output during the measurement. */
  readonly written: string;
}

/**
 * Streams an answer into a terminal that has already shown `lines` lines, with a frame per piece. The terminal has
 * 100 columns, 40 rows and 256 colours, and accepts output at once.
 */
export function frameCost(lines: number, updates = 1_000): FrameCost {
  let written = "";
  const output = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      written += text;
      done();
    },
  });
  const terminal = new FullTerminal({
    input: { setRawMode() {}, on() {}, off() {}, resume() {}, pause() {} } as never,
    output: Object.assign(output, { getWindowSize: () => [100, 40] }) as never,
    env: { COLORFGBG: "15;0" },
    depth: 8,
    onTyped: () => true,
    onInterrupt() {},
  });
  const state = emptyConversation();
  let place = 0;
  const happens = (item: object) => {
    const placed = { epoch: 1, ...item } as FeedItem;
    reduce(state, placed);
    terminal.view.show(placed, state);
  };
  const streams = (text: string) =>
    happens({ type: "text.delta", message: "a", part: 0, seq: 1, offset: ++place, text });
  happens({ type: "message.started", message: "a", parentId: null, run: "r", model: "m", seq: 1, at: 0 });
  for (let line = 0; line < lines; line += 100) {
    streams(Array.from({ length: 100 }, (_, index) => `Line ${line + index}.\n\n`).join(""));
    terminal.draw();
  }
  written = "";
  const before = process.cpuUsage();
  for (let update = 0; update < updates; update++) {
    streams(PIECES[update % PIECES.length] ?? "");
    terminal.draw();
  }
  const { user, system } = process.cpuUsage(before);
  const cost = { bytes: Buffer.byteLength(written) / updates, cpu: (user + system) / updates, written };
  terminal.close();
  return cost;
}

/** Prose, a list, code and a table, in pieces like those of models. */
const PIECES: readonly string[] =
  `## What comes next

The check comes too late, **after** the value was used, so that \`undefined\` reaches the parser. It has to stand first,
before anything else is done with the value, and it has to say what was expected and what was found instead of it.

- the first thing, with some words
- the second thing, with some more of them

\`\`\`ts
export function checked(value: string | undefined): string {
  if (value === undefined) throw new Error("There is no value.");
  return value.trim();
}
\`\`\`

| name | what it is for |
|------|----------------|
| first | the beginning |
| second | the end |

`.match(/.{1,5}|\n/gs) ?? [];
