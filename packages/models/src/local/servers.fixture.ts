import type { ServerResponse } from "node:http";
import { bodyOf, chunk, serve, streamed, type TestServer } from "../testing/server.ts";
import type { LocalServerName } from "./window.ts";

/** A stand-in for a local server, which answers as documented. */
export interface LocalStandIn extends Omit<TestServer, "connections"> {
  /** Paths of the requests so far. */
  readonly asked: string[];
  /** Bodies of the requests for a response. */
  readonly bodies: Body[];
  /** Tokens of its window; a test may change it, like a restart. */
  window: number;
  /** True if it has loaded the model. */
  loaded: boolean;
}

/** A request for a response, with the fields that tests read. */
export interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly options?: { readonly num_ctx?: number };
  readonly [field: string]: unknown;
}

/** The behaviour of a simulated server. */
export interface Behaviour {
  readonly window?: number;
  readonly loaded?: boolean;
  /** Prompt tokens in its usage. Default: the number of words. */
  readonly counts?: (prompt: number, window: number) => number;
  /** Refuses prompts with more words than its window, as these servers do if they do not cut. */
  readonly refuses?: boolean;
  /** Ollama: the parameters of its Modelfile. */
  readonly parameters?: string;
}

/** Maximum tokens of the model "m", for servers that report it. */
export const MOST = 131_072;

/** Starts a stand-in for a server with the model "m", which answers "Good." to everything. */
export async function standIn(name: LocalServerName, behaviour: Behaviour = {}): Promise<LocalStandIn> {
  const { counts = (prompt: number) => prompt, refuses = false, parameters = "" } = behaviour;
  const state = {
    asked: [] as string[],
    bodies: [] as Body[],
    window: behaviour.window ?? 4_096,
    loaded: behaviour.loaded ?? true,
  };
  const server = await serve(async (request, response) => {
    const path = request.url ?? "";
    state.asked.push(path);
    const body = request.method === "POST" ? JSON.parse(await bodyOf(request)) : undefined;
    const told = TOLD[name](path, state, parameters);
    if (told) return json(response, told);
    if (path !== (name === "ollama" ? "/api/chat" : "/v1/chat/completions")) return json(response, {}, 404);
    state.loaded = true;
    if (body.messages.length === 0)
      return json(response, {
        model: "m",
        message: { role: "assistant", content: "" },
        done: true,
        done_reason: "load",
      });
    state.bodies.push(body);
    const window = body.options?.num_ctx ?? state.window;
    state.window = window;
    const prompt = JSON.stringify(body.messages).match(/\p{L}+/gu)?.length ?? 0;
    if (refuses && prompt >= window) return json(response, ...REFUSALS[name](prompt, window));
    answer(name, response, counts(prompt, window));
  });
  const { baseURL } = server;
  return Object.assign(state, { baseURL, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() });
}

type State = Pick<LocalStandIn, "window" | "loaded">;

/** Each server's answer about its window. */
const TOLD: Readonly<Record<LocalServerName, (path: string, state: State, parameters: string) => object | undefined>> =
  {
    // https://github.com/ollama/ollama/blob/main/docs/api.md#show-model-information and #list-running-models;
    // `context_length` of a running model: `ProcessModelResponse` in api/types.go of the same repository.
    ollama: (path, { window, loaded }, parameters) => {
      if (path === "/api/show")
        return {
          parameters,
          model_info: {
            "general.architecture": "llama",
            "llama.context_length": MOST,
            "llama.embedding_length": 4_096,
          },
          capabilities: ["completion", "tools"],
        };
      if (path === "/api/ps")
        return { models: loaded ? [{ name: "m:latest", model: "m:latest", context_length: window }] : [] };
      return undefined;
    },
    // https://lmstudio.ai/docs/developer/rest/endpoints (GET /api/v0/models); `loaded_context_length` is in the answer of
    // https://github.com/zed-industries/zed/issues/33938.
    lmstudio: (path, { window, loaded }) =>
      path === "/api/v0/models"
        ? {
            object: "list",
            data: [
              { id: "other", state: "not-loaded", max_context_length: 2_048 },
              {
                id: "m",
                object: "model",
                type: "llm",
                arch: "llama",
                compatibility_type: "gguf",
                max_context_length: MOST,
                ...(loaded ? { state: "loaded", loaded_context_length: window } : { state: "not-loaded" }),
              },
            ],
          }
        : undefined,
    // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (GET /props)
    llamacpp: (path, { window }) =>
      path.startsWith("/props")
        ? { default_generation_settings: { id: 0, n_ctx: window, params: {} }, total_slots: 1, model_path: "m.gguf" }
        : undefined,
    // https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html; `max_model_len` of `ModelCard` in
    // vllm/entrypoints/openai of https://github.com/vllm-project/vllm.
    vllm: (path, { window }) =>
      path === "/v1/models"
        ? { object: "list", data: [{ id: "m", object: "model", owned_by: "vllm", root: "m", max_model_len: window }] }
        : undefined,
  };

/** Each server's refusal of a prompt that is too long. */
const REFUSALS: Readonly<Record<LocalServerName, (prompt: number, window: number) => [body: object, status: number]>> =
  {
    // llm/llama_server.go of https://github.com/ollama/ollama
    ollama: () => [
      {
        error:
          "the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the context length in settings, or use a model with a longer context length",
      },
      400,
    ],
    // https://github.com/zed-industries/zed/issues/33938
    lmstudio: () => [
      { error: "The number of tokens to keep from the initial prompt is greater than the context length." },
      400,
    ],
    // https://github.com/ggml-org/llama.cpp/pull/15780
    llamacpp: (prompt, window) => [
      {
        error: {
          code: 400,
          message: `request (${prompt} tokens) exceeds the available context size (${window} tokens), try increasing it`,
          type: "exceed_context_size_error",
          n_prompt_tokens: prompt,
          n_ctx: window,
        },
      },
      400,
    ],
    // https://docs.vllm.ai: errors of the OpenAI-compatible server
    vllm: (prompt, window) => [
      {
        object: "error",
        message: `This model's maximum context length is ${window} tokens. However, you requested ${prompt} tokens in the messages. Please reduce the length of the messages.`,
        type: "BadRequestError",
        code: 400,
      },
      400,
    ],
  };

function answer(name: LocalServerName, response: ServerResponse, prompt: number): void {
  if (name !== "ollama") {
    const usage = { prompt_tokens: prompt, completion_tokens: 2, total_tokens: prompt + 2 };
    streamed(
      response,
      chunk({ role: "assistant", content: "Good." }),
      chunk({}, "stop"),
      { choices: [], usage },
      "[DONE]",
    );
    return;
  }
  // https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion
  lines(
    response,
    { model: "m", message: { role: "assistant", content: "Go" }, done: false },
    { model: "m", message: { role: "assistant", content: "od." }, done: false },
    {
      model: "m",
      message: { role: "assistant", content: "" },
      done: true,
      done_reason: "stop",
      prompt_eval_count: prompt,
      eval_count: 2,
    },
  );
}

/** Answers with lines of JSON. */
function lines(response: ServerResponse, ...all: readonly object[]): void {
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  response.end(all.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

export function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
