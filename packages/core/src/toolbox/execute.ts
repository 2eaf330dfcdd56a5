import { base64Size, checkBroughtFile } from "../conversation/brought-file.ts";
import { errorMessage } from "../conversation/error-message.ts";
import type { About, Preview, SeenFile } from "../conversation/message.ts";
import type { FilePart } from "../conversation/part.ts";
import { shownKind } from "../conversation/shape-problem.ts";
import { resultFileBytes } from "../conversation/tree/path.ts";
import { alarm } from "../model/alarm.ts";
import { untakenFileProblem } from "../model/rules/pictures.ts";
import { failurePrefix } from "../ports/define-tool.ts";
import type { OuterContext, PreviewContext, Tool } from "../ports/tool.ts";
import type { BroughtBytes } from "../ports/tool-values.ts";
import { checkedInput } from "./checked-input.ts";
import { BoundedText, boundText, DEFAULT_OUTPUT, outputText } from "./output.ts";

/** Milliseconds in which a tool must end after its signal has aborted. */
export const GRACE = 3_000;

const MOST_FILES = 20;
const TOO_MANY = `a call brings ${MOST_FILES} files at most`;

/** Outcome of one run of a tool. */
export interface ExecutionOutcome {
  readonly status: "completed" | "failed" | "cancelled";
  readonly output: string;
  /** The text for the model in place of `output`. */
  readonly modelOutput?: string;
  readonly files?: readonly FilePart[];
  readonly seen?: readonly SeenFile[];
  readonly changedFiles?: number;
}

/**
 * Runs a tool. Never throws: an exception, a timeout or an unusable output becomes an outcome. After an abort it waits
 * up to 3 seconds, to keep partial output. `signal` of the context also aborts at the tool's timeout.
 */
export async function execute(
  tool: Tool,
  input: unknown,
  outer: AbortSignal,
  contextFor: (signal: AbortSignal) => OuterContext,
  model: object = {},
): Promise<ExecutionOutcome> {
  if (outer.aborted) return { status: "cancelled", output: notExecuted(outer) };
  const limit = tool.maxOutput ?? DEFAULT_OUTPUT;
  const timer = tool.timeout === undefined ? undefined : new Timeout(tool.name, tool.timeout, outer);
  const signal = timer?.signal ?? outer;
  const context = contextFor(signal);
  const said = new BoundedText(limit);
  let over = false;
  const progress = (text: string) => {
    if (over || text === "") return;
    said.add(text);
    context.progress(text);
  };
  const files: FilePart[] = [];
  const attach = (file: BroughtBytes) => {
    const before = files.reduce((sum, { data = "" }) => sum + base64Size(data), resultFileBytes(context.path));
    const checked = files.length < MOST_FILES ? checkBroughtFile({ type: "file", ...file }, before) : TOO_MANY;
    const problem = typeof checked === "string" ? checked : untakenFileProblem(model, checked);
    if (typeof checked === "string" || problem !== undefined)
      throw new RangeError(`${file.name ?? file.mediaType} cannot be shown: ${problem}.`);
    if (!over) files.push(checked);
  };
  const found: { readonly seen: SeenFile[]; changedFiles?: number } = { seen: [] };
  const saw = (file: SeenFile) => (over ? over : found.seen.push(file));
  const changedFiles = (count: number) => (over ? over : Object.assign(found, { changedFiles: count }));
  try {
    const own = { progress, attach, saw, changedFiles };
    const value = await withGrace(signal, async () => tool.execute(input, { ...context, ...own }));
    const output = boundText(outputText(value), limit);
    if (signal.aborted) return { ...stoppedOutcome(signal, output), ...found };
    const completed = { status: "completed", output, files, ...found } as const;
    if (!tool.toModelOutput) return completed;
    return { ...completed, modelOutput: boundText(await modelOutputOf(tool, value, input, signal), limit) };
  } catch (error) {
    if (signal.aborted) return { ...stoppedOutcome(signal, said.toString()), ...found };
    return { status: "failed", output: boundText(`${failurePrefix(error)}: ${errorMessage(error)}`, limit), ...found };
  } finally {
    over = true;
    timer?.end();
  }
}

/** Returns the text of `toModelOutput`, or its error, because the model must not get the result. Never rejects. */
async function modelOutputOf(tool: Tool, value: unknown, input: unknown, signal: AbortSignal): Promise<string> {
  try {
    const text: unknown = await withGrace(signal, async () => tool.toModelOutput?.(value as never, input));
    if (typeof text === "string") return text;
    throw new TypeError(`it returned ${shownKind(text)} in place of a text`);
  } catch (error) {
    return `The tool ran, but its toModelOutput failed, so you do not get the result: ${errorMessage(error)}`;
  }
}

/** Waits for work, but at most 3 seconds after the signal has aborted. */
export async function withGrace<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const gone = new GracePeriod(signal);
  try {
    return await Promise.race([work(), gone.promise]);
  } finally {
    gone.end();
  }
}

/** The result of a call that did not run because of an abort. */
export function notExecuted(signal: AbortSignal): string {
  return `Not executed: ${errorMessage(signal.reason)}.`;
}

/** The result of an aborted call, with its output so far. */
function stoppedOutcome(signal: AbortSignal, output: string): ExecutionOutcome {
  const status = signal.reason instanceof ToolTimeout ? "failed" : "cancelled";
  const why = errorMessage(signal.reason);
  return { status, output: output === "" ? `Stopped: ${why}.` : `Stopped: ${why}. Output until then:\n${output}` };
}

class ToolTimeout extends Error {
  override readonly name = "ToolTimeout";
}

class Timeout {
  readonly #controller = new AbortController();
  readonly #cancel: () => void;
  readonly signal: AbortSignal;

  constructor(tool: string, milliseconds: number, outer: AbortSignal) {
    this.signal = AbortSignal.any([outer, this.#controller.signal]);
    this.#cancel = alarm(milliseconds, () => {
      this.#controller.abort(new ToolTimeout(`"${tool}" ran longer than its limit of ${milliseconds} ms`));
    });
  }

  end(): void {
    this.#cancel();
  }
}

/** Rejects 3 seconds after the signal has aborted. */
class GracePeriod {
  readonly promise: Promise<never>;
  readonly #signal: AbortSignal;
  #timer: NodeJS.Timeout | undefined;
  #begin: () => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.promise = new Promise((_, reject) => {
      this.#begin = () => {
        this.#timer = setTimeout(() => reject(signal.reason), GRACE);
      };
    });
    if (signal.aborted) this.#begin();
    else signal.addEventListener("abort", this.#begin, { once: true });
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#begin);
  }
}

/** Returns a tool's description of a call, with the tool's server and folder, if any. Never rejects. */
export async function describeCall(tool: Tool, input: unknown, context: PreviewContext): Promise<About | undefined> {
  const offered = aboutTool(tool);
  if (!tool.about && !tool.folder) return offered;
  // Without a subject, arguments are shown by name. A question without a folder is better than a wrong folder.
  const saying = async () => tool.about && (checkedInput(tool.about(input)).input as About);
  const about = await saying().catch(() => undefined);
  const inFolder = tool.folder && withGrace(context.signal, async () => tool.folder?.(context));
  const folder = await inFolder?.catch(() => undefined);
  const known = { ...about, ...offered, ...(typeof folder === "string" && { folder }) };
  return about || Object.keys(known).length > 0 ? known : undefined;
}

/** Returns a description that contains only the tool's MCP server, for a call whose arguments were not judged. */
export function aboutTool({ offeredBy: server, offeredAs: tool }: Tool): About | undefined {
  return server === undefined || tool === undefined ? undefined : { offered: { server, tool } };
}

/** Predicts the effects of a call for the user who decides. Never rejects. */
export async function previewOf(tool: Tool, input: unknown, context: PreviewContext): Promise<Preview | undefined> {
  if (!tool.preview) return undefined;
  try {
    const preview = await withGrace(context.signal, async () => tool.preview?.(input, context));
    return preview && Object.keys(preview).length > 0 ? (checkedInput(preview).input as Preview) : undefined;
  } catch (error) {
    return { notes: [`The change cannot be shown: ${errorMessage(error)}`] };
  }
}
