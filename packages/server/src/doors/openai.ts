import type { UserPart } from "@banyan/core/conversation";
import { LARGEST_FRAME } from "@banyan/protocol";
import { ClientError } from "@banyan/protocol/client";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { z } from "zod";
import type { Desk } from "../desk/desk.ts";
import { refusalOf } from "../desk/perform.ts";
import { statusOf } from "../http/answers.ts";
import type { HttpEnvironment } from "../http/app.ts";
import { fileAt, type Heard, type Said, type Taken, takeTurn } from "./turn.ts";

type Request = Context<HttpEnvironment>;

/** The conversation that an answer stands in; a request with it goes on there. */
const CONVERSATION = "x-banyan-conversation";

const piece = z.union([
  z.object({ type: z.enum(["text", "input_text", "output_text"]), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
  z.object({ type: z.literal("input_image"), image_url: z.string() }),
]);
const content = z.union([z.string(), z.array(piece)]);
const role = z.enum(["system", "developer", "user", "assistant"]);
const turn = z.object({ role, content });
const tools = z
  .array(z.unknown())
  .max(0, "tools of the client are not carried out here; those of the agent are")
  .nullish();
const common = { model: z.string().min(1).max(200), stream: z.boolean().nullish(), tools };
const chatRequest = z.object({
  ...common,
  messages: z.array(turn).min(1),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
});
const responsesRequest = z.object({
  ...common,
  input: z.union([z.string().min(1), z.array(turn).min(1)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
});
type Turn = z.infer<typeof turn>;

/**
 * OpenAI's addresses for programs that speak to nothing else: models, chat completions and responses. Each request is one
 * turn of the agent, with its own tools; each response is a place in the tree, and two requests on one are two branches.
 */
export function openAi(desk: Desk): Hono<HttpEnvironment> {
  const app = new Hono<HttpEnvironment>();
  const models = (context: Request) => [
    ...new Set([desk.welcome(context.get("principal")).agent, desk.welcome(context.get("principal")).settings.model]),
  ];

  app.use(async (context, next) => {
    context.header("Cache-Control", "no-store");
    const refused = context.req.method === "POST" && refusalOf("turn.say", context.get("principal"));
    return refused ? failure(context, new ClientError(refused.code, refused.message)) : next();
  });
  const largest = bodyLimit({
    maxSize: LARGEST_FRAME,
    onError: (context) =>
      context.json(errorOf("malformed", `A body of more than ${LARGEST_FRAME} bytes is refused.`), 413),
  });

  app.get("/models", (context) =>
    context.json({
      object: "list",
      data: models(context).map((id) => ({ id, object: "model", created: 0, owned_by: "banyan" })),
    }),
  );

  app.post("/chat/completions", largest, async (context) => {
    const { data, error } = chatRequest.safeParse(await context.req.json().catch(() => undefined));
    if (!data) return failure(context, malformed(error));
    const conversation = context.req.header(CONVERSATION);
    const head = () => ({ created: Math.floor(Date.now() / 1000), model: data.model });
    return answer(context, data, {
      // Where the conversation is known, so is what was said before.
      said: () => ({
        conversation,
        parts: partsOf(conversation === undefined ? data.messages : data.messages.slice(-1)),
      }),
      whole: (id, taken) => ({
        ...{ id: `chatcmpl-${id}`, object: "chat.completion", ...head(), usage: chatUsage(taken) },
        choices: [
          {
            ...{ index: 0, finish_reason: finishOf(taken), logprobs: null },
            message: { role: "assistant", content: taken.texts.join("\n\n"), refusal: null },
          },
        ],
      }),
      streamed: (id, send) => {
        let last: string | undefined;
        const chunk = (delta: object, finish_reason: string | null = null) =>
          send({
            ...{ id: `chatcmpl-${id}`, object: "chat.completion.chunk", ...head() },
            choices: [{ index: 0, delta, finish_reason }],
          });
        chunk({ role: "assistant", content: "" });
        return {
          hear: (heard) => {
            if (heard.type === "abandoned") return;
            if (heard.type === "reasoning") return chunk({ reasoning_content: heard.text });
            // Two answers of one turn are two paragraphs.
            chunk({ content: last === undefined || last === heard.message ? heard.text : `\n\n${heard.text}` });
            last = heard.message;
          },
          end: (taken) => {
            chunk({}, finishOf(taken));
            if (data.stream_options?.include_usage)
              send({
                id: `chatcmpl-${id}`,
                object: "chat.completion.chunk",
                ...head(),
                choices: [],
                usage: chatUsage(taken),
              });
          },
          fail: (problem) => send(problem),
          last: "[DONE]",
        };
      },
    });
  });

  app.post("/responses", largest, async (context) => {
    const { data, error } = responsesRequest.safeParse(await context.req.json().catch(() => undefined));
    if (!data) return failure(context, malformed(error));
    const created_at = Math.floor(Date.now() / 1000);
    const response = (id: string, taken?: Taken) => ({
      ...{ id, object: "response", created_at, model: data.model, error: null, incomplete_details: null },
      ...{ previous_response_id: data.previous_response_id ?? null, instructions: data.instructions ?? null },
      ...{ tools: [], tool_choice: "auto", parallel_tool_calls: true, metadata: {}, temperature: null, top_p: null },
      status: taken ? (finishOf(taken) === "stop" ? "completed" : "incomplete") : "in_progress",
      ...(taken && finishOf(taken) !== "stop" ? { incomplete_details: { reason: "max_output_tokens" } } : {}),
      output: (taken?.texts ?? []).map((text, place) => outputOf(`msg_${place}_${id}`, text, "completed")),
      usage: taken ? responseUsage(taken) : null,
    });
    return answer(context, data, {
      said: () => {
        const before = data.previous_response_id ? placeOf(data.previous_response_id) : undefined;
        const input: readonly Turn[] =
          typeof data.input === "string" ? [{ role: "user", content: data.input }] : data.input;
        const told: readonly Turn[] = data.instructions ? [{ role: "system", content: data.instructions }] : [];
        return { ...before, parts: partsOf([...told, ...input]) };
      },
      whole: (id, taken) => response(id, taken),
      streamed: (id, send) => responseStream(id, response, send),
    });
  });

  app.all("*", (context) => failure(context, new ClientError("not-found", "There is nothing at this address.")));

  /** Takes the turn, and answers in the words of an address. */
  async function answer(
    context: Request,
    asked: z.infer<typeof chatRequest> | z.infer<typeof responsesRequest>,
    words: Words,
  ) {
    const leaving = new AbortController();
    const signal = AbortSignal.any([leaving.signal, context.req.raw.signal]);
    const principal = context.get("principal");
    const model = asked.model === desk.welcome(principal).agent ? undefined : asked.model;
    const heard: Heard[] = [];
    let hear = (each: Heard): void => {
      heard.push(each);
    };
    try {
      const turn = await takeTurn(desk, principal, { ...words.said(), model }, { hear: (each) => hear(each), signal });
      const id = idOf(turn);
      context.header(CONVERSATION, turn.conversation);
      if (!asked.stream) {
        const taken = await turn.taken;
        if (taken.reason === "failed") throw new ClientError("failed", taken.error ?? "The model has failed.");
        return context.json(words.whole(id, taken));
      }
      return streamSSE(context, async (stream) => {
        stream.onAbort(() => leaving.abort());
        const send = sending(stream);
        const telling = words.streamed(id, send);
        for (const each of heard) telling.hear(each);
        hear = telling.hear;
        try {
          const taken = await turn.taken;
          if (taken.reason === "failed") telling.fail(errorOf("failed", taken.error ?? "The model has failed."));
          else telling.end(taken);
        } catch (error) {
          telling.fail(errorOf("failed", error instanceof Error ? error.message : String(error)));
        }
        if (telling.last !== undefined) await stream.writeSSE({ data: telling.last });
      });
    } catch (error) {
      if (error instanceof ClientError) return failure(context, error);
      throw error;
    }
  }
  return app;
}

type Send = (data: object) => void;

/** How an address says what comes of a turn. */
interface Words {
  said(): Said;
  whole(id: string, taken: Taken): object;
  streamed(id: string, send: Send): Telling;
}

interface Telling {
  hear(heard: Heard): void;
  end(taken: Taken): void;
  fail(problem: ReturnType<typeof errorOf>): void;
  /** What stands last in the stream. */
  readonly last?: string;
}

/** Characters that may wait for a reader. A turn does not wait for one, so whoever is slower than that has left. */
const FULL = 1024 * 1024;

/** Writes in order, with the type of each as the name of its event; what nobody reads any more is dropped with the stream. */
export function sending(stream: SSEStreamingApi, named = true): Send {
  let waiting = 0;
  return (data) => {
    if (stream.aborted) return;
    const event = named && "type" in data ? { event: String(data.type) } : {};
    const text = JSON.stringify(data);
    waiting += text.length;
    if (waiting > FULL) return stream.abort();
    stream.writeSSE({ ...event, data: text }).then(
      () => {
        waiting -= text.length;
      },
      () => {}, // The reader left: onAbort ends the turn.
    );
  };
}

function responseStream(id: string, response: (id: string, taken?: Taken) => object, send: Send): Telling {
  let sequence_number = 0;
  const tell = (type: string, data: object) => send({ type, sequence_number: sequence_number++, ...data });
  let open: { readonly message: string; readonly place: number; text: string } | undefined;
  let items = 0;
  const close = (status: "completed" | "incomplete") => {
    if (!open) return;
    const { place, text } = open;
    const at = { item_id: `msg_${place}_${id}`, output_index: place, content_index: 0 };
    tell("response.output_text.done", { ...at, text, logprobs: [] });
    tell("response.content_part.done", { ...at, part: textPart(text) });
    tell("response.output_item.done", { output_index: place, item: outputOf(at.item_id, text, status) });
    open = undefined;
  };
  tell("response.created", { response: response(id) });
  tell("response.in_progress", { response: response(id) });
  return {
    hear: (heard) => {
      if (heard.type === "abandoned") return open?.message === heard.message ? close("incomplete") : undefined;
      if (heard.type === "reasoning") return;
      if (open?.message !== heard.message) {
        close("completed");
        open = { message: heard.message, place: items++, text: "" };
        const item_id = `msg_${open.place}_${id}`;
        tell("response.output_item.added", {
          output_index: open.place,
          item: { ...outputOf(item_id, "", "in_progress"), content: [] },
        });
        tell("response.content_part.added", {
          item_id,
          output_index: open.place,
          content_index: 0,
          part: textPart(""),
        });
      }
      open.text += heard.text;
      const at = { item_id: `msg_${open.place}_${id}`, output_index: open.place, content_index: 0 };
      tell("response.output_text.delta", { ...at, delta: heard.text, logprobs: [] });
    },
    end: (taken) => {
      close("completed");
      const type = finishOf(taken) === "stop" ? "response.completed" : "response.incomplete";
      tell(type, { response: response(id, taken) });
    },
    fail: ({ error }) => {
      close("incomplete");
      const why = { code: "server_error", message: error.message };
      tell("response.failed", { response: { ...response(id), status: "failed", error: why } });
    },
  };
}

const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

function outputOf(id: string, text: string, status: "in_progress" | "completed" | "incomplete") {
  return { id, type: "message", role: "assistant", status, content: [textPart(text)] };
}

/** A response is known by where it stands: no list of them is kept. */
function idOf({ conversation, message }: { readonly conversation: string; readonly message: string }): string {
  return `resp_${Buffer.from(JSON.stringify([conversation, message])).toString("base64url")}`;
}

const place = z.tuple([z.string().min(1).max(200), z.string().min(1).max(200)]);

function placeOf(id: string): { readonly conversation: string; readonly behind: string } {
  const { data } = place.safeParse(jsonOf(String(Buffer.from(id.slice("resp_".length), "base64url"))));
  if (!data) throw new ClientError("not-found", "previous_response_id: this server made no response of that id.");
  return { conversation: data[0], behind: data[1] };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // No id of ours: the schema says so.
  }
}

/** The last message as it is; what the caller's program says went before it, as one text in front. */
function partsOf(messages: readonly Turn[]): UserPart[] {
  const before = messages.slice(0, -1).map((each) => `${each.role}: ${textOf(each.content)}`);
  const last = messages.at(-1);
  const parts = last ? piecesOf(last.content) : [];
  if (parts.length === 0) throw new ClientError("malformed", "The last message is empty.");
  if (before.length === 0) return parts;
  return [
    { type: "text", text: `What was said before, as the calling program has it:\n\n${before.join("\n\n")}` },
    ...parts,
  ];
}

function textOf(said: z.infer<typeof content>): string {
  return piecesOf(said)
    .map((part) => (part.type === "text" ? part.text : "[an image]"))
    .join("\n");
}

function piecesOf(said: z.infer<typeof content>): UserPart[] {
  if (typeof said === "string") return said === "" ? [] : [{ type: "text", text: said }];
  return said.map((each): UserPart => {
    if ("text" in each) return { type: "text", text: each.text };
    const url = typeof each.image_url === "string" ? each.image_url : each.image_url.url;
    return fileAt(url, "image/*");
  });
}

const finishOf = ({ reason }: Taken) => (reason === "limit" || reason === "interrupted" ? "length" : "stop");

function chatUsage({ usage }: Taken) {
  return {
    ...{ prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output },
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

function responseUsage({ usage }: Taken) {
  return {
    ...{ input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.input + usage.output },
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

export function malformed(error: z.ZodError): ClientError {
  const [issue] = error.issues;
  return new ClientError("malformed", `${issue?.path.join(".") || "The body"}: ${issue?.message ?? "is malformed"}.`);
}

function errorOf(code: string, message: string) {
  return { error: { message, type: code === "failed" ? "server_error" : "invalid_request_error", code, param: null } };
}

function failure(context: Request, { code, message }: ClientError): Response {
  return context.json(errorOf(code, message), code === "invalid" ? 400 : statusOf({ code: code as "failed", message }));
}
