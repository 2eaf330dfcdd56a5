import {
  type CommandName,
  commands,
  HITS,
  jsonSchemas,
  PROTOCOL,
  type ProtocolSchema,
  refTo,
  rightFor,
} from "@banyan/protocol";
import type { Door } from "../doors/door.ts";
import { PLACE_FORM } from "./event-stream.ts";

/** Commands about a connection: they need a socket. */
const OF_SOCKETS: ReadonlySet<string> = new Set(["conversation.watch", "feed.subscribe", "feed.unsubscribe"]);

const ID = { name: "id", in: "path", required: true, schema: refTo("id") };

/** An event of a newer version: an import keeps it. */
const NEWER = {
  type: "object",
  properties: {
    seq: { type: "integer", minimum: 1 },
    epoch: { type: "integer", minimum: 0 },
    type: { type: "string" },
  },
  required: ["seq", "epoch", "type", "at"],
};

const problems = {
  default: {
    description: "The request was refused. The message says what is wrong and what to do.",
    content: body(refTo("refusal")),
  },
};

/** Returns the API for scripts as OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0), with the addresses of `doors`. */
export function openApi(server: string, doors: readonly Door[]): object {
  const { schemas, commands: names } = jsonSchemas();
  const posted = names.filter((name) => !OF_SOCKETS.has(name));
  const fieldsOf = (name: CommandName) => schemas[name]?.properties ?? {};
  const parameters = (name: CommandName, fields: readonly string[]) =>
    fields.map((field) => {
      const { description, ...schema } = fieldsOf(name)[field] as ProtocolSchema;
      return { name: field, in: "query", ...(description === undefined ? {} : { description }), schema };
    });
  return {
    openapi: "3.1.0",
    info: {
      title: "Banyan",
      version: PROTOCOL,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      description: `The HTTP part of ${server}. Live clients use the WebSocket at /api/v1/socket, with the same commands and frames.`,
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths: {
      "/api/v1/health": {
        get: {
          operationId: "health",
          summary: "Health of the server.",
          security: [],
          responses: {
            200: jsonResponse("The server runs.", {
              type: "object",
              properties: { status: { const: "ok" }, server: { type: "string" }, protocol: { type: "string" } },
              required: ["status", "server", "protocol"],
            }),
            ...problems,
          },
        },
      },
      "/api/v1/commands": {
        post: {
          operationId: "command",
          summary: "Runs a command. Commands with the same id take effect only once.",
          requestBody: {
            required: true,
            content: body({
              oneOf: posted.map(refTo),
              discriminator: {
                propertyName: "type",
                mapping: Object.fromEntries(posted.map((name) => [name, refTo(name).$ref])),
              },
            }),
          },
          responses: {
            200: jsonResponse("Done.", { anyOf: posted.map((name) => refTo(`${name}.result`)) }),
            ...problems,
          },
        },
      },
      "/api/v1/conversations": {
        get: {
          operationId: "conversations",
          summary: "Lists conversations, the last written first. With `query`, finds messages that contain all words.",
          parameters: [
            ...parameters("conversation.search", ["query", "cwd"]),
            ...parameters("conversation.list", ["programs"]),
            ...parameters("conversation.list", ["limit"]).map((limit) => ({
              ...limit,
              description: `Maximum number of conversations, or of messages with the parameter query. Messages: at most ${HITS}, default 20.`,
            })),
          ],
          responses: {
            200: jsonResponse("The list.", {
              anyOf: ["conversation.list.result", "conversation.search.result"].map(refTo),
            }),
            ...problems,
          },
        },
        post: {
          operationId: "import",
          summary: commands["conversation.import"].does,
          parameters: [
            {
              name: "Idempotency-Key",
              in: "header",
              description: "Imports with the same key take effect only once.",
              schema: refTo("id"),
            },
          ],
          requestBody: { required: true, content: body(refTo("exported")) },
          responses: { 200: result("conversation.import"), ...problems },
        },
      },
      "/api/v1/conversations/{id}/export": {
        get: {
          operationId: "export",
          summary: commands["conversation.export"].does,
          parameters: [ID, ...parameters("conversation.export", ["format", "leaf"])],
          responses: {
            200: {
              description: "The file.",
              content: {
                "application/json": { schema: refTo("exported") },
                "text/markdown": { schema: { type: "string" } },
                "text/html": { schema: { type: "string" } },
              },
            },
            ...problems,
          },
        },
      },
      "/api/v1/conversations/{id}/feed": {
        get: {
          operationId: "feed",
          summary:
            "Sends the feed as server-sent events. Each event contains a frame. The event's id is the cursor after this frame.",
          description:
            "A browser that reconnects sends the id of the last event as Last-Event-ID, which takes precedence over `from`.",
          parameters: [
            ID,
            {
              name: "from",
              in: "query",
              description:
                "The id of an event of the stream, which consists of epoch, seq and offset. The feed continues after this event. With seq 0, the feed starts at the beginning.",
              schema: { type: "string", pattern: PLACE_FORM.source },
            },
            ...parameters("feed.subscribe", ["leaf"]),
          ],
          responses: {
            200: { description: "The stream.", content: { "text/event-stream": { schema: refTo("frame") } } },
            ...problems,
          },
        },
      },
      "/api/v1/models": {
        get: {
          operationId: "models",
          summary: commands["model.list"].does,
          parameters: parameters("model.list", ["provider"]),
          responses: { 200: result("model.list"), ...problems },
        },
      },
      "/api/v1/openapi.json": {
        get: {
          operationId: "description",
          summary: "This description.",
          responses: { 200: jsonResponse("The description.", { type: "object" }), ...problems },
        },
      },
      ...Object.assign({}, ...doors.map((door) => door.paths())),
    },
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: {
        ...Object.fromEntries(
          Object.entries(schemas).map(([name, schema]) => [name, name in commands ? described(name, schema) : schema]),
        ),
        exported: {
          type: "object",
          description: "A conversation as a file that contains its log.",
          properties: {
            format: { const: "banyan-conversation" },
            version: { const: 1 },
            events: { type: "array", minItems: 1, items: { anyOf: [refTo("event"), NEWER] } },
          },
          required: ["format", "version", "events"],
        },
        refusal: {
          type: "object",
          properties: { error: refTo("problem") },
          required: ["error"],
        },
      },
    },
  };

  function described(name: string, schema: ProtocolSchema): ProtocolSchema {
    const { does } = commands[name as CommandName];
    return { description: `${does} Needs: ${rightFor(name as CommandName)}.`, ...schema };
  }
}

function body(of: object): object {
  return { "application/json": { schema: of } };
}

function jsonResponse(description: string, of: object): object {
  return { description, content: body(of) };
}

function result(name: CommandName): object {
  return jsonResponse("Done.", refTo(`${name}.result`));
}
