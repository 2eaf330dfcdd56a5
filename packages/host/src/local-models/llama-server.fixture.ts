// A small HTTP server over llama.cpp with `/props` and `/v1/chat/completions`, like llama.cpp's own server
// (https://github.com/ggml-org/llama.cpp/tree/master/tools/server). Arguments: the folder of llama.node, the model, the
// context size, and "refuses" or "cuts" for prompts that are too long. Prints its port.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";

const [installed = "", model = "", size = "", tooLong = ""] = process.argv.slice(2);
const window = Number(size);

/** The used part of llama.node's interface. */
interface Context {
  getFormattedChat(messages: readonly object[], template: undefined, options: object): { readonly prompt: string };
  tokenize(text: string): Promise<{ readonly tokens: ArrayLike<number> }>;
  completion(options: object, token: (token: { readonly token?: string }) => void): Promise<Completion>;
}

interface Completion {
  readonly tokens_evaluated: number;
  readonly tokens_predicted: number;
  readonly stopped_limited: boolean;
}

const { loadModel } = createRequire(join(installed, "package.json"))("@fugood/llama.node");
const context: Context = await loadModel({ model, n_ctx: window, n_threads: 2 });

async function bodyOf(request: IncomingMessage): Promise<{
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: object[];
  readonly max_tokens?: number;
}> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  return JSON.parse(body);
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Requests run one after the other: there is one context. */
let last: Promise<unknown> = Promise.resolve();

async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { messages, tools, max_tokens: most = 16 } = await bodyOf(request);
  // The template of this model has no calls: put tools into the system prompt, as llama.cpp does for such models.
  const told = tools ? `\n\nTools: ${JSON.stringify(tools)}` : "";
  const said = messages.map(({ role, content }, at) => ({ role, content: at === 0 ? `${content}${told}` : content }));
  const { prompt } = context.getFormattedChat(said, undefined, { jinja: true });
  const { length } = (await context.tokenize(prompt)).tokens;
  if (length >= window && tooLong === "refuses") {
    const message = `request (${length} tokens) exceeds the available context size (${window} tokens), try increasing it`;
    const error = { code: 400, message, type: "exceed_context_size_error", n_prompt_tokens: length, n_ctx: window };
    answer(response, 400, { error });
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (event: object) => response.write(`data: ${JSON.stringify(event)}\n\n`);
  const done = await context.completion({ prompt, n_predict: most, temperature: 0, seed: 1 }, ({ token = "" }) => {
    send({ choices: [{ index: 0, delta: { content: token }, finish_reason: null }] });
  });
  const { tokens_evaluated: input, tokens_predicted: output } = done;
  send({ choices: [{ index: 0, delta: {}, finish_reason: done.stopped_limited ? "length" : "stop" }] });
  send({ choices: [], usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } });
  response.end("data: [DONE]\n\n");
}

const server = createServer((request, response) => {
  if (request.url?.startsWith("/props")) {
    answer(response, 200, { default_generation_settings: { n_ctx: window }, total_slots: 1, model_path: model });
    return;
  }
  if (request.url !== "/v1/chat/completions") {
    answer(response, 404, { error: { code: 404, message: "File Not Found", type: "not_found_error" } });
    return;
  }
  last = last.then(() => complete(request, response)).catch((error: unknown) => response.destroy(error as Error));
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`port ${typeof address === "object" ? address?.port : ""}\n`);
});
