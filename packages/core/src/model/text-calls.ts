/** A call that a model wrote as text. */
export interface TextCall {
  readonly tool: string;
  /** JSON of an object. */
  readonly input: string;
}

const OPEN = "<tool_call>";
const CLOSE = "</tool_call>";
const FENCE = "```";
/** Languages of a fence that holds calls, and the first keys of a call. */
const BEGINS_CALL = /^```(?:json|tool_call|tool_code)?\s*[[{\s]*"(?:name|tool|function|arguments|parameters)"/;
/** A text that may become the beginning of such a fence. */
const MAY_BEGIN_CALL = /^`{1,3}(?:[a-z_]{0,9}(?:\s+[[{\s]*(?:"[a-z]{0,10}"?)?)?)?$/;
/** UTF-16 units after which a fence begins a call, or does not. */
const UNDECIDED = 100;

/**
 * Reads calls that a model without native calls writes as text (F70): `<tool_call>{...}</tool_call>` on lines of its own at the end of
 * the content, or content that is one fence of JSON with `name` and `arguments`. Whatever may be a call is kept back until the
 * content ends; anything else behind it makes it text. Only calls of tools that were offered count.
 */
export class TextCalls {
  readonly #offered: ReadonlySet<string>;
  /** Whether nothing but blanks stands on the line so far, and in the content so far. */
  #isLineStart = true;
  #isStart = true;
  /** What may be calls; absent while nothing is kept back. */
  #held: string[] | undefined;
  /** The end of what is kept back: long enough to see the beginning of a call, and a closing tag. */
  #tail = "";
  #isClosed = false;

  constructor(offered: ReadonlySet<string>) {
    this.#offered = offered;
  }

  /** Takes some content; returns what of all that came is text for sure. */
  take(text: string): string {
    if (this.#held !== undefined) return this.#hold(text);
    const at = !this.#isStart && !text.includes("<") ? -1 : this.#candidate(text);
    if (at === -1) return this.#pass(text);
    this.#held = [];
    this.#tail = "";
    this.#isClosed = false;
    return this.#pass(text.slice(0, at)) + this.#hold(text.slice(at));
  }

  /** The content is over: the calls at its end, or the text that only looked like calls. With `asText`, there are no calls. */
  end(asText = false): { readonly text: string; readonly calls: readonly TextCall[] } {
    const text = this.#held?.join("") ?? "";
    this.#held = undefined;
    const calls = asText || text === "" ? [] : callsIn(text, this.#offered);
    return calls.length > 0 ? { text: "", calls } : { text, calls };
  }

  /** Text for sure. */
  #pass(text: string): string {
    const end = text.lastIndexOf("\n");
    if (end !== -1) this.#isLineStart = text.slice(end + 1).trim() === "";
    else if (this.#isLineStart) this.#isLineStart = text.trim() === "";
    if (this.#isStart) this.#isStart = text.trim() === "";
    return text;
  }

  /** Where in a text something begins that may be a call, or -1. */
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

  /** Whether what is kept back, which ends like this, may still be calls. */
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

  /** Looks for the end of a call, and at what follows the call. Of a long call only the beginning and the end are kept. */
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

  /** Behind a call nothing may follow but another one. */
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

/** The calls that a text is from its first to its last character; none when anything of the text is something else. */
function callsIn(text: string, offered: ReadonlySet<string>): TextCall[] {
  const whole = text.trim();
  if (whole.startsWith(FENCE)) {
    const [, json] = /^```[a-z_]*\s*([\s\S]*?)\s*```$/.exec(whole) ?? [];
    return json === undefined ? [] : allCalls(parsed(json), offered);
  }
  const calls = whole
    .split(OPEN)
    .slice(1)
    .map((piece) => piece.trim());
  const values = calls.map((piece, at) => {
    // A model may stop before the last closing tag.
    const isLast = at === calls.length - 1;
    if (!piece.endsWith(CLOSE)) return isLast && !piece.includes(CLOSE) ? parsed(piece) : undefined;
    return parsed(piece.slice(0, -CLOSE.length));
  });
  return allCalls(values, offered);
}

function allCalls(value: unknown, offered: ReadonlySet<string>): TextCall[] {
  const calls = (Array.isArray(value) ? value : [value]).map((one) => callOf(one, offered));
  return calls.every((call) => call !== undefined) ? calls : [];
}

function callOf(value: unknown, offered: ReadonlySet<string>): TextCall | undefined {
  if (!isRecord(value)) return undefined;
  const named = isRecord(value.function) ? value.function : value;
  const tool = named.name ?? named.tool ?? named.function;
  const input = named.arguments ?? named.parameters ?? named.input;
  const object = typeof input === "string" ? parsed(input) : input;
  if (typeof tool !== "string" || !offered.has(tool) || !isRecord(object)) return undefined;
  return { tool, input: JSON.stringify(object) };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // Something else than a call.
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
