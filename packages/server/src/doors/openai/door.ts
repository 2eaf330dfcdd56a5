import { ClientError } from "@banyan/client";
import { createId } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";
import type { Desk } from "@banyan/desk";
import { clientProblem } from "@banyan/desk/serving";
import type { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import type { HttpEnvironment } from "../../auth/gate.ts";
import { bodyOf, type Door, type DoorRequest, door } from "../door.ts";
import { described, posted } from "../route-description.ts";
import { eventSender } from "../turn-stream.ts";
import { chatRequest, chatWords, openAiTurns } from "./chat.ts";
import { type AnswerForm, formOf } from "./form.ts";
import { branchInChat, branchOfHistory } from "./history.ts";
import { responsesRequest, responsesWords } from "./responses.ts";
import { chatOf, isSideRequest } from "./side.ts";
import { type TurnResult, type TurnUpdate, takeDoorTurn } from "./turn.ts";
import {
  type OpenAiFormat,
  type OpenAiTurn,
  openAiError,
  openAiFailure,
  openAiText,
  turnFailure,
  userPartsOf,
} from "./words.ts";

/** The header that contains the conversation of a response. A request with this header continues the conversation. */
export const CONVERSATION = "x-banyan-conversation";

/**
 * OpenAI's addresses for models, chat completions and responses. Each request is one turn of the agent with its own
 * tools. Each response is a message in the tree: two requests that continue one response make two branches.
 */
export const openAi: Door = {
  address: "/v1",
  open,
  refusal: openAiError,
  paths: () => ({
    "/v1/models": {
      get: described(
        "openaiModels",
        "Lists the agent, its current model and the server's other models, in OpenAI's format.",
        {
          parameters: [],
        },
      ),
    },
    "/v1/models/{name}": {
      get: described("openaiModel", "Returns one model, in OpenAI's format.", {
        parameters: [{ name: "name", in: "path", required: true, schema: { type: "string" } }],
      }),
    },
    "/v1/chat/completions": {
      post: posted(
        "openaiChat",
        "Runs a turn for an OpenAI chat completions request. With `stream`, the response is streamed.",
        chatRequest,
      ),
    },
    "/v1/responses": {
      post: posted(
        "openaiResponse",
        "Runs a turn for an OpenAI responses request. With `stream`, the response is streamed.",
        responsesRequest,
      ),
    },
  }),
};

function open(desk: Desk): Hono<HttpEnvironment> {
  return door(openAiFailure, (app) => {
    const modelsFor = async (context: DoorRequest) => {
      const principal = context.get("principal");
      const { agent, settings } = desk.welcome(principal);
      const known = principal.rights.includes("act") ? await desk.modelNames() : [];
      const names = [...new Set([agent, settings.model, ...known])];
      return names.map((id) => ({ id, object: "model", created: 0, owned_by: "banyan" }));
    };

    app.get("/models", async (context) => context.json({ object: "list", data: await modelsFor(context) }));

    app.get("/models/:name{.+}", async (context) => {
      const name = context.req.param("name");
      const model = (await modelsFor(context)).find(({ id }) => id === name);
      if (model) return context.json(model);
      const { error } = openAiError(
        "model_not_found",
        `There is no model ${JSON.stringify(name)}. GET /v1/models lists the models.`,
      );
      return context.json({ error: { ...error, param: "model" } }, 404);
    });

    app.post("/chat/completions", async (context) => {
      const request = await bodyOf(context, chatRequest);
      const principal = context.get("principal");
      const said = openAiTurns(request);
      const chat = chatOf(context, principal);
      const find = (before: readonly OpenAiTurn[]) =>
        chat === undefined ? branchOfHistory(desk, principal, before) : branchInChat(desk, principal, chat, before);
      const conversation = context.req.header(CONVERSATION);
      const words = chatWords(request, { conversation, chat, find });
      const form = formOf(request);
      if (form && conversation !== undefined)
        throw new ClientError(
          "malformed",
          `tool_choice and response_format: an answer in a conversation has no forced form; leave out the header ${CONVERSATION}.`,
        );
      if (form || (await isSideRequest(desk, context, request, said)))
        return answerAside(desk, context, { ...request, said, form }, words);
      return answerRequest(desk, context, request, words);
    });

    app.post("/responses", async (context) => {
      const request = await bodyOf(context, responsesRequest);
      return answerRequest(desk, context, request, responsesWords(request));
    });
  });
}

interface AsideRequest {
  readonly model: string;
  readonly stream?: boolean | null | undefined;
  readonly said: readonly OpenAiTurn[];
  readonly form: AnswerForm | undefined;
}

/** Answers a side request, or one with a required response format, without the agent's tools. Stores nothing. */
async function answerAside(
  desk: Desk,
  context: DoorRequest,
  { said, form, ...asked }: AsideRequest,
  words: OpenAiFormat,
): Promise<Response> {
  const { agent } = desk.welcome(context.get("principal"));
  const model = asked.model === agent ? undefined : asked.model;
  const isTold = ({ role }: OpenAiTurn) => role === "system" || role === "developer";
  const systemTexts = said.filter(isTold).map(({ content }) => openAiText(content));
  const request = {
    model,
    output: form?.schema,
    instructions: [...systemTexts, ...(form ? [form.purpose] : [])].join("\n\n"),
    parts: userPartsOf(said.filter((each) => !isTold(each))),
  };
  const { text, result, usage } = await desk.askAside(request, context.req.raw.signal).catch((error) => {
    throw new ClientError(clientProblem(error)?.code ?? "failed", errorMessage(error));
  });
  const json = form && JSON.stringify(result);
  const calls = form?.tool !== undefined ? [{ call: createId(), tool: form.tool, inputText: json ?? "" }] : [];
  const outputs = calls.length > 0 ? [] : [{ type: "text" as const, text: json ?? text }];
  const taken: TurnResult = { reason: form?.reason ?? "answered", outputs, calls, usage };
  const turn = { conversation: "", message: createId(), taken: Promise.resolve(taken) };
  if (!asked.stream) return context.json(words.whole(turn, taken));
  return streamSSE(context, async (stream) => {
    const { send, sent } = eventSender(stream, { named: true });
    const telling = words.streamed(turn, send);
    for (const each of outputs) telling.hear({ ...each, message: turn.message });
    telling.end(taken);
    await sent();
    if (telling.last !== undefined) await stream.writeSSE({ data: telling.last });
  });
}

async function answerRequest(
  desk: Desk,
  context: DoorRequest,
  request: { readonly model: string; readonly stream?: boolean | null | undefined },
  words: OpenAiFormat,
): Promise<Response> {
  const leaving = new AbortController();
  const signal = AbortSignal.any([leaving.signal, context.req.raw.signal]);
  const principal = context.get("principal");
  const model = request.model === desk.welcome(principal).agent ? undefined : request.model;
  const heard: TurnUpdate[] = [];
  let hear = (each: TurnUpdate): void => {
    heard.push(each);
  };
  const turn = await takeDoorTurn(
    desk,
    principal,
    { ...(await words.asking()), model },
    { hear: (each) => hear(each), signal },
  );
  context.header(CONVERSATION, turn.conversation);
  if (!request.stream) {
    const taken = await turn.taken;
    if (taken.reason === "failed") return openAiFailure(context, turnFailure(taken));
    return context.json(words.whole(turn, taken));
  }
  return streamSSE(context, async (stream) => {
    stream.onAbort(() => leaving.abort());
    const { send, sent } = eventSender(stream, { named: true });
    const telling = words.streamed(turn, send);
    for (const each of heard) telling.hear(each);
    hear = telling.hear;
    try {
      const taken = await turn.taken;
      if (taken.reason === "failed") {
        const { code, message } = turnFailure(taken);
        telling.fail(openAiError(code, message));
      } else telling.end(taken);
    } catch (error) {
      telling.fail(openAiError("failed", errorMessage(error)));
    }
    await sent();
    if (telling.last !== undefined) await stream.writeSSE({ data: telling.last });
  });
}
