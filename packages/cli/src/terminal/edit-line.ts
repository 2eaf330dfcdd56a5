import { createInterface, type Key } from "node:readline";
import { PASTE_PAUSE } from "./terminal.ts";

/** How the editing of a line, or of several, ended. `left`: with Ctrl-D, or because the input ended. */
export interface Edited {
  readonly type: "entered" | "interrupted" | "left" | "aborted";
  /** What stands there at the end. */
  readonly text: string;
}

export interface EditOptions {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly prompt: string;
  readonly initial?: string;
  /** The newest first. */
  readonly history?: readonly string[];
  /** Ends the editing. */
  readonly signal?: AbortSignal | undefined;
  /** Called for every key but Ctrl-C. */
  onKey?(): void;
}

const CONTINUED = "… ";

/** A command is a line by itself, whatever comes behind it. */
function isCommand(line: string): boolean {
  return line.startsWith("/");
}

/**
 * Lets a person edit a message on a terminal in raw mode. Enter ends it, except after `\` and inside a paste. A terminal
 * that does not mark a paste sends its lines at once: what arrives within 20 ms of a line goes on with it.
 */
export function editLine(options: EditOptions): Promise<Edited> {
  const { input, output, prompt, initial = "", history = [], signal } = options;
  if (signal?.aborted) return Promise.resolve({ type: "aborted", text: initial });
  const editor = createInterface({
    input,
    output,
    prompt,
    terminal: true,
    history: [...history],
    historySize: 500,
    tabSize: 4,
  });
  const { promise, resolve } = Promise.withResolvers<Edited>();
  const above = initial.split("\n");
  const last = above.pop() ?? "";
  const lines: string[] = [];
  let pasting = false;
  let pause: NodeJS.Timeout | undefined;

  const finish = (type: Edited["type"]) => {
    clearTimeout(pause);
    input.off("keypress", key);
    signal?.removeEventListener("abort", abort);
    const rest = type === "entered" ? [] : [editor.line];
    resolve({ type, text: [...lines, ...rest].join("\n") });
    editor.close();
  };
  const abort = () => finish("aborted");
  const goOn = () => {
    editor.setPrompt(CONTINUED);
    editor.prompt();
  };
  const key = (_text: string | undefined, { name, ctrl }: Key) => {
    if (name === "paste-start") pasting = true;
    if (name === "paste-end") pasting = false;
    if (!(ctrl && name === "c")) options.onKey?.();
  };
  const settle = () => {
    // A rest without a line end belongs to the paste: the person ends it.
    if (editor.line === "") finish("entered");
    else {
      editor.setPrompt(CONTINUED);
      editor.prompt(true);
    }
  };
  editor.on("line", (line) => {
    clearTimeout(pause);
    if (pasting) {
      lines.push(line);
      goOn();
    } else if (line.endsWith("\\")) {
      lines.push(line.slice(0, -1));
      goOn();
    } else {
      lines.push(line);
      if (lines.length === 1 && isCommand(line)) finish("entered");
      else pause = setTimeout(settle, PASTE_PAUSE);
    }
  });
  editor.on("SIGINT", () => finish("interrupted"));
  editor.on("close", () => finish("left"));
  input.on("keypress", key);
  signal?.addEventListener("abort", abort, { once: true });
  for (const [index, line] of above.entries()) {
    output.write(`${index === 0 ? prompt : CONTINUED}${line}\n`);
    lines.push(line);
    editor.setPrompt(CONTINUED);
  }
  editor.prompt();
  if (last !== "") editor.write(last);
  return promise;
}
