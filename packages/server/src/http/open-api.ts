import { z } from "zod";
import { type CommandName, commands, needs, PROTOCOL, serverFrame } from "../protocol/index.ts";

/** The addresses for scripts as OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0), made of the schemas of the protocol. */
export function openApi(server: string): object {
  const names = Object.keys(commands) as CommandName[];
  return {
    openapi: "3.1.0",
    info: {
      title: "Banyan",
      version: PROTOCOL,
      description: `The HTTP part of ${server}. Live clients use the WebSocket at /api/v1/socket, with the same commands and frames.`,
    },
    security: [{ token: [] }],
    paths: {
      "/api/v1/health": {
        get: {
          summary: "Whether the server lives.",
          security: [],
          responses: { 200: json("It does.", { type: "object" }) },
        },
      },
      "/api/v1/commands": {
        post: {
          summary: "Carries out a command. One that comes twice with one id acts once.",
          requestBody: {
            required: true,
            content: body({ oneOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })) }),
          },
          responses: {
            200: json("It was carried out.", {
              anyOf: names.map((name) => ({ $ref: `#/components/schemas/${name}.result` })),
            }),
            ...problems,
          },
        },
      },
      "/api/v1/conversations": {
        get: {
          summary: "The conversations, the last written first; with `query`, messages in which all words occur.",
          parameters: [parameter("query"), parameter("cwd"), parameter("limit", { type: "integer", minimum: 1 })],
          responses: {
            200: json("They are these.", {
              anyOf: ["conversation.list", "conversation.search"].map((name) => ({
                $ref: `#/components/schemas/${name}.result`,
              })),
            }),
            ...problems,
          },
        },
        post: {
          summary: commands["conversation.import"].does,
          parameters: [{ ...parameter("Idempotency-Key"), in: "header" }],
          requestBody: { required: true, content: body({ type: "object" }) },
          responses: { 200: result("conversation.import"), ...problems },
        },
      },
      "/api/v1/conversations/{id}/export": {
        get: {
          summary: commands["conversation.export"].does,
          parameters: [ID, parameter("format", { enum: ["json", "markdown", "html"] }), parameter("leaf")],
          responses: { 200: { description: "The file." }, ...problems },
        },
      },
      "/api/v1/conversations/{id}/feed": {
        get: {
          summary: "The feed as server-sent events; each holds a frame, and its id is the place behind it.",
          parameters: [
            ID,
            parameter("from", { pattern: "^\\d+\\.\\d+\\.\\d+$" }),
            parameter("leaf"),
            { ...parameter("Last-Event-ID"), in: "header" },
          ],
          responses: {
            200: {
              description: "The stream.",
              content: { "text/event-stream": { schema: { $ref: "#/components/schemas/frame" } } },
            },
            ...problems,
          },
        },
      },
      "/api/v1/models": {
        get: {
          summary: commands["model.list"].does,
          parameters: [parameter("provider")],
          responses: { 200: result("model.list"), ...problems },
        },
      },
    },
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: {
        ...Object.assign({}, ...names.map(schemasOf)),
        ...schemas("frame", serverFrame),
        problem: {
          type: "object",
          properties: {
            error: {
              type: "object",
              properties: { code: { type: "string" }, message: { type: "string" } },
              required: ["code", "message"],
            },
          },
          required: ["error"],
        },
      },
    },
  };
}

const ID = { name: "id", in: "path", required: true, schema: { type: "string" } };

const problems = {
  default: {
    description: "It was not carried out; the message says what to do.",
    content: body({ $ref: "#/components/schemas/problem" }),
  },
};

function schemasOf(name: CommandName): Readonly<Record<string, object>> {
  const { input, result: answer, does } = commands[name];
  const whole = z
    .object({ type: z.literal(name), id: z.string(), ...input })
    .describe(`${does} Needs: ${needs[name]}.`);
  return { ...schemas(name, whole), ...schemas(`${name}.result`, answer) };
}

/** A schema under a name, and those under names of their own that it refers to: a reference counts from the document. */
function schemas(name: string, of: z.ZodType): Readonly<Record<string, object>> {
  // What a newer server adds must not trip over anyone.
  const { $schema: _, $defs = {}, ...made } = z.toJSONSchema(of, { io: "input" });
  const inner = Object.entries($defs).map(([own, schema]) => [`${name}.${own}`, schema]);
  const all = JSON.stringify({ [name]: made, ...Object.fromEntries(inner) });
  return JSON.parse(all.replaceAll('"#/$defs/', `"#/components/schemas/${name}.`));
}

function body(of: object): object {
  return { "application/json": { schema: of } };
}

function json(description: string, of: object): object {
  return { description, content: body(of) };
}

function result(name: CommandName): object {
  return json("It was carried out.", { $ref: `#/components/schemas/${name}.result` });
}

function parameter(name: string, of: object = { type: "string" }): object {
  return { name, in: "query", schema: of };
}
