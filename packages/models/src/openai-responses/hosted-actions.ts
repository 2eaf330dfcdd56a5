import { type ProviderAction, providedCall, providedContent, providedResult } from "@banyan/core/drivers";
import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import { textAt } from "../wire/json.ts";
import type { ResponsesProvider } from "./provider.ts";
import type { HostedTools } from "./server-tools.ts";

/** The calls and results in one kind of item. */
interface ActionKind {
  /** The provider's name of the tool. */
  readonly tool?: string;
  /** The user's name for the tool, if it differs from the name of the server tool. */
  readonly name?: (item: JsonRecord) => string;
  /** JSON of the arguments. Default `{}`; `undefined`: the item has no call. */
  readonly input?: (item: JsonRecord) => unknown;
  /** True if the arguments are complete only when the item is complete. */
  readonly late?: true;
  /** The id of the call, if it is not the id of the item. */
  readonly id?: "call_id";
  /** The part that stores the id of its item. */
  readonly keepsId?: "call" | "result" | "both";
  /** Returns the result in an item. `undefined`: the item has no result. */
  readonly result?: (item: JsonRecord) => { readonly value: unknown; readonly isError?: boolean } | undefined;
}

const listAt = (item: JsonRecord, key: string): readonly JsonRecord[] =>
  Array.isArray(item[key]) ? item[key].filter(isJsonRecord) : [];

const OPENAI: Readonly<Record<string, ActionKind>> = {
  web_search_call: {
    tool: "web_search",
    result: ({ action, status }) =>
      status === "completed" ? { value: webSearchResult(action) } : { value: { status }, isError: true },
  },
  file_search_call: {
    tool: "file_search",
    result: (item) => {
      const found = listAt(item, "results").map(({ attributes, file_id, filename, score, text }) => {
        return { attributes, fileId: file_id, filename, score, text };
      });
      return { value: { queries: item.queries, results: Array.isArray(item.results) ? found : null } };
    },
  },
  code_interpreter_call: {
    tool: "code_interpreter",
    input: ({ code, container_id }) => ({ code, containerId: container_id }),
    late: true,
    result: ({ outputs }) => ({ value: { outputs } }),
  },
  image_generation_call: { tool: "image_generation", result: ({ result }) => ({ value: { result } }) },
  tool_search_call: {
    tool: "tool_search",
    input: (item) => ({ arguments: item.arguments, call_id: null }),
    late: true,
    keepsId: "call",
  },
  tool_search_output: {
    tool: "tool_search",
    input: () => undefined,
    keepsId: "result",
    result: ({ tools }) => ({ value: { tools } }),
  },
  program: {
    tool: "programmatic_tool_calling",
    input: ({ code, fingerprint }) => ({ code, fingerprint }),
    late: true,
    id: "call_id",
    keepsId: "call",
  },
  program_output: {
    tool: "programmatic_tool_calling",
    input: () => undefined,
    id: "call_id",
    keepsId: "result",
    result: ({ result, status }) => ({ value: { result, status } }),
  },
  shell_call: {
    tool: "shell",
    input: ({ action }) => ({ action: shellAction(action) }),
    late: true,
    id: "call_id",
    keepsId: "call",
  },
  shell_call_output: {
    tool: "shell",
    input: () => undefined,
    id: "call_id",
    result: (item) => {
      const most = item.max_output_length;
      const output = listAt(item, "output").map(({ stdout, stderr, outcome }) => {
        const { type, exit_code } = isJsonRecord(outcome) ? outcome : {};
        return { stdout, stderr, outcome: type === "exit" ? { type, exitCode: exit_code } : { type: "timeout" } };
      });
      return { value: { ...(typeof most === "number" ? { maxOutputLength: most } : {}), output } };
    },
  },
  computer_call: {
    tool: "computer_use",
    input: () => "",
    late: true,
    result: ({ status }) => ({ value: { type: "computer_use_tool_result", status } }),
  },
  mcp_call: {
    name: ({ name }) => `mcp.${name}`,
    input: (item) => textAt(item, "arguments"),
    late: true,
    keepsId: "result",
    result: (item) => {
      const { server_label: serverLabel, name, output, error } = item;
      const outcome = { ...(output == null ? {} : { output }), ...(error == null ? {} : { error }) };
      return { value: { type: "call", serverLabel, name, arguments: item.arguments, ...outcome } };
    },
  },
  mcp_approval_request: {
    name: ({ name }) => `mcp.${name}`,
    input: (item) => textAt(item, "arguments"),
    late: true,
  },
};

const ofXai = (tool: string): ActionKind => ({
  tool,
  input: (item) => textAt(item, "arguments"),
  result: ({ action }) => ({ value: tool === "web_search" ? webSearchResult(action) : {} }),
});

const byName: Pick<ActionKind, "input" | "result"> = {
  input: (item) => textAt(item, "arguments"),
  result: () => ({ value: {} }),
};

const XAI: Readonly<Record<string, ActionKind>> = {
  web_search_call: ofXai("web_search"),
  x_search_call: ofXai("x_search"),
  code_interpreter_call: ofXai("code_execution"),
  code_execution_call: ofXai("code_execution"),
  view_image_call: { ...byName, name: (item) => textAt(item, "name") },
  view_x_video_call: { ...byName, name: (item) => textAt(item, "name") },
  custom_tool_call: { name: xaiToolOf, input: (item) => textAt(item, "input"), late: true, result: byName.result },
  mcp_call: { ...byName, tool: "mcp", name: (item) => textAt(item, "name") || "mcp" },
  file_search_call: {
    tool: "file_search",
    input: () => "",
    result: (item) => {
      const found = listAt(item, "results").map(({ file_id, filename, score, text }) => {
        return { fileId: file_id, filename, score, text };
      });
      return { value: { queries: item.queries ?? [], results: Array.isArray(item.results) ? found : null } };
    },
  },
  image_generation_call: {
    tool: "image_generation",
    result: ({ result, prompt, status }) =>
      result == null
        ? { value: `Image generation failed (status: ${status}).`, isError: true }
        : { value: { result, ...(prompt == null ? {} : { prompt }) } },
  },
};

/** xAI's models name the steps of a search, which belong to one tool. */
function xaiToolOf(item: JsonRecord): string {
  const name = textAt(item, "name");
  if (/^(web_search(_with_snippets)?|browse_page)$/.test(name)) return "web_search";
  return /^x_((user|keyword|semantic)_search|thread_fetch)$/.test(name) ? "x_search" : name;
}

/** Reads the actions of the provider from the items of one answer. */
export class HostedActions {
  readonly #provider: ResponsesProvider;
  readonly #hosted: HostedTools;
  /** Items whose calls were read. */
  readonly #called = new Set<string>();
  /** Calls of tool searches without results, oldest first. */
  readonly #searches: string[] = [];

  constructor(provider: ResponsesProvider, hosted: HostedTools) {
    this.#provider = provider;
    this.#hosted = hosted;
  }

  /** Returns whether the provider runs the item's action itself, or returns content of its own. */
  isHosted({ type, call_id, execution }: JsonRecord): boolean {
    if (this.#provider === "xai") return Object.hasOwn(XAI, String(type));
    if (type === "shell_call") return this.#hosted.hasContainer;
    if (type === "computer_call") return typeof call_id !== "string";
    if (type === "tool_search_call") return execution === "server";
    return type === "compaction" || Object.hasOwn(OPENAI, String(type));
  }

  /** Returns the call of an item that begins, if its arguments are known. */
  begin(item: JsonRecord): readonly ProviderAction[] {
    return this.#kind(item)?.late ? [] : this.call(item);
  }

  /** Returns the call of an item, unless it was returned before. */
  call(item: JsonRecord): readonly ProviderAction[] {
    const kind = this.#kind(item);
    const id = textAt(item, "id");
    if (!kind || this.#called.has(id)) return [];
    const input = kind.input ? kind.input(item) : {};
    if (input === undefined) return [];
    this.#called.add(id);
    const toolCallId = this.#callId(item, kind);
    if (item.type === "tool_search_call") this.#searches.push(toolCallId);
    const text = typeof input === "string" ? input : JSON.stringify(input);
    const about = { type: "tool-call", toolCallId, toolName: this.#name(item, kind), input: text } as const;
    return [providedCall({ ...about, ...this.#metadata(item, kind, "call") })];
  }

  /** Returns the call, if it was not returned before, and the result of a finished item. */
  end(item: JsonRecord): readonly ProviderAction[] {
    if (item.type === "compaction") return [this.#compaction(item)];
    const kind = this.#kind(item);
    const result = kind?.result?.(item);
    const call = this.call(item);
    if (!kind || !result) return call;
    const isOutput = item.type === "tool_search_output";
    const { value, isError = false } = result;
    const action = providedResult({
      type: "tool-result",
      toolCallId: isOutput
        ? textAt(item, "call_id") || this.#searches.shift() || textAt(item, "id")
        : this.#callId(item, kind),
      toolName: this.#name(item, kind),
      result: value as NonNullable<Parameters<typeof providedResult>[0]["result"]>,
      ...(isError ? { isError } : {}),
      ...this.#metadata(item, kind, "result"),
    });
    return [...call, action];
  }

  #compaction(item: JsonRecord): ProviderAction {
    const own = { type: "compaction", itemId: textAt(item, "id"), encryptedContent: textAt(item, "encrypted_content") };
    return providedContent({
      type: "custom",
      kind: "openai.compaction",
      providerMetadata: { [this.#provider]: own },
    });
  }

  #kind({ type }: JsonRecord): ActionKind | undefined {
    const kinds = this.#provider === "xai" ? XAI : OPENAI;
    return Object.hasOwn(kinds, String(type)) ? kinds[String(type)] : undefined;
  }

  #callId(item: JsonRecord, { id }: ActionKind): string {
    return (id && textAt(item, id)) || textAt(item, "id");
  }

  #name(item: JsonRecord, { tool, name }: ActionKind): string {
    const { names } = this.#hosted;
    if (tool === "web_search") return names.get(tool) ?? names.get("web_search_preview") ?? tool;
    const own = tool ?? name?.(item) ?? "";
    return names.get(own) ?? name?.(item) ?? own;
  }

  #metadata(item: JsonRecord, { keepsId }: ActionKind, of: "call" | "result") {
    const id = textAt(item, "id");
    if (id === "" || (keepsId !== of && keepsId !== "both")) return {};
    return { providerMetadata: { [this.#provider]: { itemId: id } } };
  }
}

/** Returns a web search's result in the form of the AI SDK's packages. */
function webSearchResult(action: unknown): object {
  if (!isJsonRecord(action)) return {};
  const { type, query, queries, sources, url, pattern } = action;
  const found = Array.isArray(sources) && sources.length > 0 ? { sources } : {};
  if (type === "open_page") return { action: { type: "openPage", url }, ...found };
  if (type === "find_in_page") return { action: { type: "findInPage", url, pattern }, ...found };
  if (type !== "search") return {};
  const asked = { ...(query == null ? {} : { query }), ...(queries == null ? {} : { queries }) };
  return { action: { type, ...asked }, ...found };
}

export function shellAction(action: unknown): object {
  const { commands, timeout_ms, max_output_length } = isJsonRecord(action) ? action : {};
  return {
    commands,
    ...(timeout_ms == null ? {} : { timeoutMs: timeout_ms }),
    ...(max_output_length == null ? {} : { maxOutputLength: max_output_length }),
  };
}
