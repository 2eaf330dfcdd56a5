import { z } from "zod";
import { runInput } from "../doors/ag-ui/door.ts";
import { chatRequest } from "../doors/openai/chat.ts";
import { responsesRequest } from "../doors/openai/responses.ts";
import { uiRequest } from "../doors/ui-messages/door.ts";

/** The tag of all these addresses: generators of test requests can skip these addresses. */
const tags = ["doors"];

/**
 * The addresses of the doors as OpenAPI 3.1 paths. Request bodies come from the schemas that check them. The doors' own protocols
 * describe the responses (docs/doors.md).
 */
export function doorPaths(): Record<string, object> {
  const chat = "the AI SDK's `useChat` (UI message stream 1)";
  const run = "AG-UI 1.0";
  return {
    "/v1/models": {
      get: asked("openaiModels", "The agent and the model that it has now, as OpenAI lists models.", {
        parameters: [],
      }),
    },
    "/v1/chat/completions": {
      post: posted(
        "openaiChat",
        "A turn, as OpenAI's chat completions ask for it; streamed with `stream`.",
        chatRequest,
      ),
    },
    "/v1/responses": {
      post: posted(
        "openaiResponse",
        "A turn, as OpenAI's responses ask for it; streamed with `stream`.",
        responsesRequest,
      ),
    },
    "/api/chat": { post: posted("uiChat", `A turn, as ${chat} asks for it.`, uiRequest) },
    "/api/chat/{id}": { get: asked("uiMessages", `The branch in view of a conversation, as messages of ${chat}.`) },
    "/api/chat/{id}/stream": { get: asked("uiStream", "The turn that works, from its beginning.", OR_NOTHING) },
    "/api/chat/{id}/stop": { post: asked("uiStop", "Ends what runs in a conversation.") },
    "/api/ag-ui": { post: posted("agUiRun", `A turn, as a run of ${run} asks for it.`, runInput) },
    "/api/ag-ui/{id}/stop": { post: asked("agUiStop", "Ends what runs in a thread, which is a conversation.") },
  };
}

const CONVERSATION = { name: "id", in: "path", required: true, schema: { $ref: "#/components/schemas/id" } };
const anything = { schema: {} };
const responses = {
  "2XX": {
    description: "What came of it, in the door's own form.",
    content: { "application/json": anything, "text/event-stream": anything },
  },
  default: { description: "What is wrong, in the door's own form.", content: { "application/json": anything } },
};

/** The responses where no turn may be running. */
const OR_NOTHING = { responses: { 204: { description: "None does." }, ...responses } };

function asked(operationId: string, summary: string, more: object = {}): object {
  return { operationId, summary, tags, parameters: [CONVERSATION], responses, ...more };
}

function posted(operationId: string, summary: string, body: z.ZodType): object {
  return {
    ...{ operationId, summary, tags, responses },
    requestBody: { required: true, content: { "application/json": { schema: schemaOf(body) } } },
  };
}

/** A schema in OpenAPI's form. Values of any JSON type have no further description. */
function schemaOf(body: z.ZodType): object {
  const { $schema: _version, ...schema } = z.toJSONSchema(body, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      if (zodSchema._zod.def.type === "record") jsonSchema.additionalProperties = {};
    },
  });
  const { $defs: _any, ...described } = schema as { readonly $defs?: unknown };
  return described;
}
