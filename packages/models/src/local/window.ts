import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";

/** Programs that serve models on a user's machine. */
export const LOCAL_SERVERS = ["ollama", "lmstudio", "llamacpp", "vllm"] as const;

export type LocalServerName = (typeof LOCAL_SERVERS)[number];

/** A model on a local server. */
export interface ServedModel {
  readonly server: LocalServerName;
  /** The server's address for the chat completions format, as in `http://127.0.0.1:11434/v1`. */
  readonly address: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** The caller's own `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** A server's report of a model's context window, in tokens. */
export interface ServerWindow {
  /** Tokens of a request and its response together; unknown while the model is not loaded. */
  readonly size?: number | undefined;
  /** Maximum tokens that the model supports. */
  readonly most?: number | undefined;
  /** True if a request can set the window, up to `most`. */
  readonly canSet?: true;
}

/** Timeouts in milliseconds: for an answer, and for loading a model. */
const PATIENCE = 3_000;
const PATIENCE_TO_LOAD = 300_000;

/** Asks a server for a model's context window, without loading the model. Rejects only with the reason of `signal`. */
export async function askWindow(served: ServedModel, signal?: AbortSignal): Promise<ServerWindow | undefined> {
  switch (served.server) {
    case "ollama":
      return windowInOllama(served, signal);
    case "llamacpp": {
      // A server with several models answers for the named model.
      const props = await askServer(served, `/props?model=${encodeURIComponent(served.model)}`, { signal });
      return props && { size: countIn(props.default_generation_settings, "n_ctx") };
    }
    case "lmstudio": {
      const entry = entryIn(await askServer(served, "/api/v0/models", { signal }), served.model);
      return entry && { size: countIn(entry, "loaded_context_length"), most: countIn(entry, "max_context_length") };
    }
    case "vllm": {
      const entry = entryIn(await askServer(served, "/v1/models", { signal }), served.model);
      return entry && { size: countIn(entry, "max_model_len") };
    }
  }
}

/** Makes Ollama load a model. Rejects only with the reason of `signal`. */
export async function loadInOllama(served: ServedModel, signal?: AbortSignal): Promise<void> {
  const { model } = served;
  await askServer(served, "/api/chat", {
    signal,
    body: { model, messages: [], stream: false },
    patience: PATIENCE_TO_LOAD,
  });
}

async function windowInOllama(served: ServedModel, signal?: AbortSignal): Promise<ServerWindow | undefined> {
  const { model } = served;
  const [shown, running] = await Promise.all([
    askServer(served, "/api/show", { signal, body: { model } }),
    askServer(served, "/api/ps", { signal }),
  ]);
  const info = shown?.model_info;
  if (!isJsonRecord(info)) return undefined;
  const most = countIn(info, Object.keys(info).find((key) => key.endsWith(".context_length")) ?? "");
  const loaded = listIn(running, "models").find(({ name }) => name === model || name === `${model}:latest`);
  // The value in its Modelfile, as a line of words.
  const [, set] = /^num_ctx\s+(\d+)/m.exec(String(shown?.parameters ?? "")) ?? [];
  const size = countIn(loaded, "context_length") ?? (set === undefined ? undefined : smaller(Number(set), most));
  return { size, most, canSet: true };
}

/** Returns the window in tokens, from the user's setting and the server's answer; `undefined` if both are missing. */
export function windowSize(set: number | undefined, said: ServerWindow | undefined): number | undefined {
  return smaller(set, set !== undefined && said?.canSet ? said.most : said?.size);
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

/** Returns the JSON object of a server's answer; `undefined` for any other answer. */
async function askServer(
  { address, apiKey, fetch = globalThis.fetch }: ServedModel,
  path: string,
  {
    signal,
    body,
    patience = PATIENCE,
  }: { readonly signal?: AbortSignal | undefined; readonly body?: object; readonly patience?: number },
): Promise<JsonRecord | undefined> {
  const root = address.replace(/\/v1$/, "");
  const timeout = AbortSignal.timeout(patience);
  try {
    const response = await fetch(`${root}${path}`, {
      headers: {
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(body ? { "content-type": "application/json" } : {}),
      },
      ...(body ? { method: "POST", body: JSON.stringify(body) } : {}),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const answer: unknown = response.ok ? await response.json() : await response.body?.cancel();
    return isJsonRecord(answer) ? answer : undefined;
  } catch {
    // The window stays unknown, and the first request reports the error.
    signal?.throwIfAborted();
    return undefined;
  }
}

function entryIn(list: JsonRecord | undefined, model: string): JsonRecord | undefined {
  return listIn(list, "data").find(({ id }) => id === model);
}

function listIn(answer: JsonRecord | undefined, key: string): JsonRecord[] {
  const list = answer?.[key];
  return Array.isArray(list) ? list.filter(isJsonRecord) : [];
}

function countIn(record: unknown, key: string): number | undefined {
  const value = isJsonRecord(record) ? record[key] : undefined;
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
