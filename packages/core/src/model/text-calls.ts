import { isJsonRecord, parseJsonText } from "../conversation/shape-problem.ts";
/** A call that a model wrote as text. */
export interface TextCall {
  readonly tool: string;
  /** JSON of an object. */
  readonly input: string;
}

const OPEN = "<tool_call>";
const CLOSE = "</tool_call>";
const FENCE = "```";
/** The beginning of a fence with calls: its language, and the first key of a call. */
const BEGINS_CALL = /^```(?:json|tool_call|tool_code)?\s*[[{\s]*"(?:name|tool|function|arguments|parameters)"/;
/** A text that may become such a beginning. */
const MAY_BEGIN_CALL = /^`{1,3}(?:[a-z_]{0,9}(?:\s+[[{\s]*(?:"[a-z]{0,10}"?)?)?)?$/;
/** UTF-16 units after which the beginning of a fence is decided. */
const UNDECIDED = 100;

/**
 * Finds tool calls in the text of a model whose server supports no tool calls (F70). A call is
 * `<tool_call>{...}</tool_call>` on lines of its own at the end of the content, or content that is a single JSON fence
 * with `name` and `arguments`. Text that could be a call is held back until the content ends. If other text follows, it
 * was no call. Only calls of offered tools are found.
 * @example
 * const found = new TextCalls(new Set(["look"]));
 * found.take('<tool_call>{"name":"look","arguments":{}}</tool_call>'); // "", because the text may be a call
 * found.end().calls // [{ tool: "look", input: "{}" }]
 */
export class TextCalls {
  readonly #offered: ReadonlySet<string>;
  /** True if the line so far, or the content so far, has only white space. */
  #isLineStart = true;
  #isStart = true;
  /** Text that may be calls; absent while no text is held. */
  #held: string[] | undefined;
  /** The end of the held text, long enough to detect the beginning of a call or a closing tag. */
  #tail = "";
  #isClosed = false;

  constructor(offered: ReadonlySet<string>) {
    this.#offered = offered;
  }

  /** Takes some content. Returns the text so far that is certainly no call. */
  take(text: string): string {
    if (this.#held !== undefined) return this.#hold(text);
    const at = !this.#isStart && !text.includes("<") ? -1 : this.#candidate(text);
    if (at === -1) return this.#pass(text);
    this.#held = [];
    this.#tail = "";
    this.#isClosed = false;
    return this.#pass(text.slice(0, at)) + this.#hold(text.slice(at));
  }

  /** Returns the calls at the end of the content, or the held text. With `asText`, there are no calls. */
  end(asText = false): { readonly text: string; readonly calls: readonly TextCall[] } {
    const text = this.#held?.join("") ?? "";
    this.#held = undefined;
    const calls = asText || text === "" ? [] : callsIn(text, this.#offered);
    return calls.length > 0 ? { text: "", calls } : { text, calls };
  }

  #pass(text: string): string {
    const end = text.lastIndexOf("\n");
    if (end !== -1) this.#isLineStart = text.slice(end + 1).trim() === "";
    else if (this.#isLineStart) this.#isLineStart = text.trim() === "";
    if (this.#isStart) this.#isStart = text.trim() === "";
    return text;
  }

  /** Returns the index at which a call may begin, or -1. */
  #candidate(text: string): number {
    if (this.#isStart) {
      const first = text.search(/\S/);
      if (first !== -1 && text[first] === "`" && mayBeFence(text.slice(first))) return first;
    }
    for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at + 1)) {
      const rest = text.slice(at, at + OPEN.length);
      if (OPEN.startsWith(rest) && this.#beginsLine(text.slice(0, at))) return at;
    }
    return -1;
  }

  #beginsLine(before: string): boolean {
    const end = before.lastIndexOf("\n");
    return before.slice(end + 1).trim() === "" && (end !== -1 || this.#isLineStart);
  }

  #hold(text: string): string {
    this.#held?.push(text);
    return this.#isViable(this.#tail + text) ? "" : this.#release();
  }

  /** True if the held text, with this end, may still be calls. */
  #isViable(tail: string): boolean {
    this.#tail = tail;
    if (this.#isClosed) return this.#mayFollow(tail);
    if (tail.startsWith("`")) {
      if (tail.length < UNDECIDED && MAY_BEGIN_CALL.test(tail)) return true;
      if (!BEGINS_CALL.test(tail.slice(0, 2 * UNDECIDED))) return false;
      return this.#closes(tail, FENCE, FENCE.length);
    }
    if (tail.length < OPEN.length) return OPEN.startsWith(tail);
    return tail.startsWith(OPEN) && this.#closes(tail, CLOSE, OPEN.length);
  }

  /** Looks for the end of a call, and examines the text after it. Keeps only both ends of a long call. */
  #closes(tail: string, close: string, from: number): boolean {
    const end = tail.indexOf(close, from);
    if (end !== -1) {
      this.#isClosed = true;
      return this.#mayFollow(tail.slice(end + close.length));
    }
    const keep = 2 * UNDECIDED;
    if (tail.length > 2 * keep) this.#tail = tail.slice(0, keep) + tail.slice(-close.length);
    return true;
  }

  #mayFollow(after: string): boolean {
    const text = after.trimStart();
    this.#tail = text;
    if (text === "" || (OPEN.startsWith(text) && text !== OPEN)) return true;
    if (!text.startsWith(OPEN)) return false;
    this.#isClosed = false;
    return this.#isViable(text);
  }

  #release(): string {
    const text = this.#held?.join("") ?? "";
    this.#held = undefined;
    return this.#pass(text);
  }
}

function mayBeFence(text: string): boolean {
  return MAY_BEGIN_CALL.test(text.slice(0, UNDECIDED)) || BEGINS_CALL.test(text.slice(0, 2 * UNDECIDED));
}

/** Returns the calls in a text that contains nothing else; none if it does. */
function callsIn(text: string, offered: ReadonlySet<string>): TextCall[] {
  const whole = text.trim();
  if (whole.startsWith(FENCE)) {
    const [, json] = /^```[a-z_]*\s*([\s\S]*?)\s*```$/.exec(whole) ?? [];
    return json === undefined ? [] : allCalls(parseJsonText(json), offered);
  }
  const calls = whole
    .split(OPEN)
    .slice(1)
    .map((piece) => piece.trim());
  const values = calls.map((piece, at) => {
    // A model may stop before the last closing tag.
    const isLast = at === calls.length - 1;
    if (!piece.endsWith(CLOSE)) return isLast && !piece.includes(CLOSE) ? parseJsonText(piece) : undefined;
    return parseJsonText(piece.slice(0, -CLOSE.length));
  });
  return allCalls(values, offered);
}

function allCalls(value: unknown, offered: ReadonlySet<string>): TextCall[] {
  const calls = (Array.isArray(value) ? value : [value]).map((one) => textCallIn(one, offered));
  return calls.every((call) => call !== undefined) ? calls : [];
}

function textCallIn(value: unknown, offered: ReadonlySet<string>): TextCall | undefined {
  if (!isJsonRecord(value)) return undefined;
  const named = isJsonRecord(value.function) ? value.function : value;
  const tool = named.name ?? named.tool ?? named.function;
  const input = named.arguments ?? named.parameters ?? named.input;
  const object = typeof input === "string" ? parseJsonText(input) : input;
  if (typeof tool !== "string" || !offered.has(tool) || !isJsonRecord(object)) return undefined;
  return { tool, input: JSON.stringify(object) };
}
