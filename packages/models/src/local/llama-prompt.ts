import type { Json } from "@banyan/core";
import { encodableResult, type ModelRequest, type PromptMessage, type ToolSchema } from "@banyan/core/drivers";
import { isJsonRecord } from "@banyan/core/shown";
import type { LlamaFunctions, LlamaMessage, LlamaResponsePart } from "./llama-library.ts";

/** Converts a request to the history of node-llama-cpp. Answers in a row become one answer, with their calls. */
export function llamaHistory({ instructions, messages }: ModelRequest): LlamaMessage[] {
  const history: LlamaMessage[] = instructions === "" ? [] : [{ type: "system", text: instructions }];
  for (const message of messages) {
    const last = history.at(-1);
    if (message.role === "user") history.push({ type: "user", text: llamaUserText(message) });
    else if (last?.type === "model") last.response.push(...responseParts(message));
    else history.push({ type: "model", response: responseParts(message) });
  }
  return history;
}

function llamaUserText({ parts }: Extract<PromptMessage, { role: "user" }>): string {
  const texts = parts.map((part) =>
    part.type === "text"
      ? part.text
      : `[${part.name ?? "A file"} (${part.mediaType}) is not shown to you: this model reads only text.]`,
  );
  return texts.join("\n");
}

function responseParts({ parts, results }: Extract<PromptMessage, { role: "assistant" }>): LlamaResponsePart[] {
  let startsNewChunk = true;
  return parts.flatMap((part): LlamaResponsePart[] => {
    if (part.type === "text") return [part.text];
    if (part.type !== "call") return [];
    const result = results.find(({ call }) => call === part.id);
    const { text = "" } = result ? encodableResult(result, []) : {};
    const call = { type: "functionCall", name: part.tool, params: part.input, result: text, startsNewChunk } as const;
    startsNewChunk = false;
    return [call];
  });
}

/** Converts tools to functions of node-llama-cpp; undefined if there are none. */
export function llamaFunctions(tools: readonly ToolSchema[]): LlamaFunctions | undefined {
  if (tools.length === 0) return undefined;
  return Object.fromEntries(
    tools.map(({ name, description, input }) => [name, { description, params: grammarSchema(input) }]),
  );
}

type Schema = Readonly<Record<string, unknown>>;

/** Any JSON value. */
const ANYTHING: Schema = {
  oneOf: [
    { type: ["string", "number", "boolean", "null"] },
    { type: "object", additionalProperties: true },
    { type: "array" },
  ],
};

/** The keys whose values a grammar takes as they are. */
const TAKEN = ["description", "const", "enum", "minLength", "maxLength", "minItems", "maxItems", "required"];

/**
 * Reduces a JSON Schema to the part that node-llama-cpp can convert to a grammar. The grammar is never stricter than
 * the schema; the tool checks the rest.
 */
export function grammarSchema(schema: Json | undefined): Schema {
  if (!isJsonRecord(schema)) return ANYTHING;
  const kept = Object.fromEntries(TAKEN.flatMap((key) => (Object.hasOwn(schema, key) ? [[key, schema[key]]] : [])));
  const { type, properties, additionalProperties, items, $defs, $ref } = schema;
  const defs = isJsonRecord($defs) ? { $defs: eachSchema($defs) } : {};
  if (typeof $ref === "string") return /^#\/\$defs\/[^/]+$/.test($ref) ? { $ref } : ANYTHING;
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) return { oneOf: choices.map((one) => grammarSchema(one as Json)), ...defs };
  if ("const" in kept || "enum" in kept) return kept;
  if (Array.isArray(type)) return { oneOf: type.map((one) => grammarSchema({ ...schema, type: one } as Json)) };
  if (type === "object" || properties !== undefined)
    return {
      ...kept,
      type: "object",
      ...(isJsonRecord(properties) ? { properties: eachSchema(properties) } : {}),
      additionalProperties:
        typeof additionalProperties === "boolean" ? additionalProperties : grammarSchema(additionalProperties as Json),
      ...defs,
    };
  if (type === "array")
    return { ...kept, type, ...(items === undefined ? {} : { items: grammarSchema(items as Json) }) };
  return typeof type === "string" ? { ...kept, type } : ANYTHING;
}

function eachSchema(schemas: Readonly<Record<string, unknown>>): Schema {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, grammarSchema(schema as Json)]));
}
