/** The calls of one answer in a request, and their results. */
export interface Exchange {
  readonly calls: readonly string[];
  readonly results: readonly Result[];
}

export interface Result {
  readonly call: string;
  readonly output: string;
}

interface ChatBody {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | null;
    readonly tool_calls?: readonly { readonly id: string }[];
    readonly tool_call_id?: string;
  }[];
}

/** OpenAI chat: an assistant's `tool_calls`, and the `tool` messages that follow directly. */
export function exchangesInChat(body: unknown): Exchange[] {
  const exchanges: { calls: string[]; results: Result[] }[] = [];
  let last: "exchange" | "other" = "other";
  for (const { role, content, tool_calls, tool_call_id } of (body as ChatBody).messages) {
    if (role === "tool") {
      // A result that does not follow its calls is an exchange without a call.
      if (last === "other") exchanges.push({ calls: [], results: [] });
      exchanges.at(-1)?.results.push({ call: tool_call_id ?? "", output: content ?? "" });
      last = "exchange";
    } else if (tool_calls) {
      exchanges.push({ calls: tool_calls.map(({ id }) => id), results: [] });
      last = "exchange";
    } else last = "other";
  }
  return exchanges;
}

interface ResponsesBody {
  readonly input: readonly {
    readonly type?: string;
    readonly call_id?: string;
    readonly output?: string;
  }[];
}

/** OpenAI responses: adjacent `function_call` items, and the `function_call_output` items that follow directly. */
export function exchangesInResponses(body: unknown): Exchange[] {
  const exchanges: { calls: string[]; results: Result[] }[] = [];
  let last: "call" | "result" | "other" = "other";
  for (const { type, call_id = "", output = "" } of (body as ResponsesBody).input) {
    if (type === "function_call") {
      if (last !== "call") exchanges.push({ calls: [], results: [] });
      exchanges.at(-1)?.calls.push(call_id);
      last = "call";
    } else if (type === "function_call_output") {
      if (last === "other") exchanges.push({ calls: [], results: [] });
      exchanges.at(-1)?.results.push({ call: call_id, output });
      last = "result";
    } else last = "other";
  }
  return exchanges;
}

interface AnthropicBody {
  readonly messages: readonly {
    readonly role: string;
    readonly content: readonly {
      readonly type: string;
      readonly id?: string;
      readonly tool_use_id?: string;
      readonly content?: string | readonly { readonly text?: string }[];
    }[];
  }[];
}

/** Anthropic: the `tool_use` blocks of an assistant's message, and the `tool_result` blocks that begin the next message. */
export function exchangesInAnthropic(body: unknown): Exchange[] {
  const { messages } = body as AnthropicBody;
  const exchanges: Exchange[] = [];
  messages.forEach(({ role, content }, index) => {
    const before = messages[index - 1];
    const calls = (before?.role === "assistant" ? before.content : []).flatMap(({ type, id = "" }) =>
      type === "tool_use" ? [id] : [],
    );
    const results = (role === "user" ? content : []).flatMap(({ type, tool_use_id: call = "", content = "" }, at) => {
      if (type !== "tool_result") return [];
      const output = typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
      // Anthropic refuses a result after other content: count it as a result without a call.
      return [{ call: at < calls.length ? call : "", output }];
    });
    if (calls.length > 0 || results.length > 0) exchanges.push({ calls, results });
  });
  return exchanges;
}

interface GoogleBody {
  readonly contents: readonly {
    readonly role: string;
    readonly parts: readonly {
      readonly functionCall?: { readonly id?: string };
      readonly functionResponse?: { readonly id?: string; readonly response: GoogleResponse };
    }[];
  }[];
}

interface GoogleResponse {
  readonly content?: string;
  readonly error?: string;
}

const outputOf = ({ content, error }: GoogleResponse): string => content ?? error ?? "";

/** Google: the `functionCall` parts of a model's content, and the `functionResponse` parts of the next content. */
export function exchangesInGoogle(body: unknown): Exchange[] {
  const exchanges: Exchange[] = [];
  const { contents } = body as GoogleBody;
  contents.forEach(({ role, parts }, index) => {
    const before = contents[index - 1];
    const calls = (before?.role === "model" ? before.parts : []).flatMap(({ functionCall }) =>
      functionCall ? [functionCall.id ?? ""] : [],
    );
    const results = (role === "user" ? parts : []).flatMap(({ functionResponse }) =>
      functionResponse ? [{ call: functionResponse.id ?? "", output: outputOf(functionResponse.response) }] : [],
    );
    if (calls.length > 0 || results.length > 0) exchanges.push({ calls, results });
  });
  return exchanges;
}
