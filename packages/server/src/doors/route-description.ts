import { z } from "zod";

/** The tag of all these addresses: generators of test requests can skip them. */
const tags = ["doors"];

const CONVERSATION = { name: "id", in: "path", required: true, schema: { $ref: "#/components/schemas/id" } };
const anything = { schema: {} };
const responses = {
  "2XX": {
    description: "The result, in the format of this protocol.",
    content: { "application/json": anything, "text/event-stream": anything },
  },
  default: { description: "The error, in the format of this protocol.", content: { "application/json": anything } },
};

/** The OpenAPI response 204 of addresses at which a turn need not be running. */
export const OR_NOTHING = { responses: { 204: { description: "No turn is running." }, ...responses } };

/** Describes an address that takes no body, for OpenAPI. */
export function described(operationId: string, summary: string, more: object = {}): object {
  return { operationId, summary, tags, parameters: [CONVERSATION], responses, ...more };
}

/** Describes an address that takes a body, for OpenAPI. */
export function posted(operationId: string, summary: string, body: z.ZodType): object {
  return {
    operationId,
    summary,
    tags,
    responses,
    requestBody: { required: true, content: { "application/json": { schema: openApiSchema(body) } } },
  };
}

function openApiSchema(body: z.ZodType): object {
  const { $schema: _version, ...schema } = z.toJSONSchema(body, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      if (zodSchema._zod.def.type === "record") jsonSchema.additionalProperties = {};
    },
  });
  const { $defs: _any, ...own } = schema as { readonly $defs?: unknown };
  return own;
}
