import { errorMessage, isJsonRecord } from "@banyan/core/shown";
import { fromJsonSchema, isSpecType, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { inputSchema } from "./input-schema.ts";

type JsonObject = Readonly<Record<string, unknown>>;

const LISTS = new Map<string, { at: string; what: string; needs: readonly string[]; isValid(entry: unknown): boolean }>(
  [
    ["tools/list", { at: "tools", what: "tool", needs: ["name", "inputSchema"], isValid: isSpecType.Tool }],
    ["prompts/list", { at: "prompts", what: "prompt", needs: ["name"], isValid: isSpecType.Prompt }],
    ["resources/list", { at: "resources", what: "resource", needs: ["name", "uri"], isValid: isSpecType.Resource }],
    [
      "resources/templates/list",
      {
        at: "resourceTemplates",
        what: "resource template",
        needs: ["name", "uriTemplate"],
        isValid: isSpecType.ResourceTemplate,
      },
    ],
  ],
);

/** Receives a line about a list or a call's result that violates the protocol. */
export type NoteOddity = (line: string, where: "list" | "call") => void;

/** Corrects the results that a transport delivers before the client reads them. Call it before the transport is used. */
export function mendResults(transport: Transport, note: NoteOddity): void {
  const mender = new ResultMender(note);
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    for (const one of Array.isArray(message) ? message : [message]) mender.sent(one);
    return send(message, options);
  };
  transport.onmessage = (message) => mender.received(message);
}

/** Maximum number of requests to remember: some calls never end. */
const WAITING = 10_000;

/**
 * Checks each entry of the results of one connection (F50, F51), before the client package checks them as a whole. An
 * invalid entry of a list is left out alone, and the model still gets a tool's result.
 */
class ResultMender {
  readonly #note: NoteOddity;
  readonly #asked = new Map<string, { readonly method: string; readonly tool: string }>();
  readonly #outputs = new Map<string, JsonObject>();

  constructor(note: NoteOddity) {
    this.#note = note;
  }

  sent(message: JSONRPCMessage): void {
    if (!("method" in message) || !("id" in message)) return;
    const { method, params } = message;
    if (method !== "tools/call" && !LISTS.has(method)) return;
    const tool = isJsonRecord<JsonObject>(params) && typeof params.name === "string" ? params.name : "";
    this.#asked.set(String(message.id), { method, tool });
    if (this.#asked.size > WAITING) this.#asked.delete([...this.#asked.keys()][0] ?? "");
  }

  received(message: JSONRPCMessage): void {
    if ("method" in message || !("id" in message)) return;
    const id = String(message.id);
    const request = this.#asked.get(id);
    this.#asked.delete(id);
    if (request === undefined || !("result" in message)) return;
    const whole = message as { result: unknown };
    const result = isJsonRecord<JsonObject>(whole.result) ? whole.result : {};
    whole.result =
      request.method === "tools/call" ? this.#called(request.tool, result) : this.#listed(request.method, result);
  }

  #listed(method: string, result: JsonObject): JsonObject {
    const list = LISTS.get(method);
    if (list === undefined) return result;
    const { nextCursor, ...rest } = result;
    const block = result[list.at];
    if (!Array.isArray(block)) this.#note(`its list of ${list.what}s is not a list`, "list");
    const entries = (Array.isArray(block) ? block : []).flatMap((entry) => this.#entry(list, entry));
    return { ...rest, [list.at]: entries, ...(typeof nextCursor === "string" && { nextCursor }) };
  }

  #entry({ what, needs, isValid }: NonNullable<ReturnType<typeof LISTS.get>>, given: unknown): unknown[] {
    const entry = isJsonRecord<JsonObject>(given) ? withObjectSchema(given) : {};
    const named = `the ${what} ${String(entry.name ?? entry.uri ?? entry.uriTemplate ?? "without a name")}`;
    const needed = Object.fromEntries(needs.map((field) => [field, entry[field]]));
    if (!isValid(needed)) {
      const bad = needs.filter(
        (field) => !isJsonRecord<JsonObject>(given) || !isValid({ ...EXAMPLE, [field]: entry[field] }),
      );
      const violate = bad.length === 1 ? "violates" : "violate";
      this.#note(`${named} is left out: its ${bad.join(" and ")} ${violate} the protocol`, "list");
      return [];
    }
    // The client package would fail a call whose result violates this schema.
    const { outputSchema, ...rest } = entry;
    const fields = Object.entries(rest).filter(([field, value]) => isValid({ ...needed, [field]: value }));
    const left = Object.keys(rest).filter((field) => !fields.some(([kept]) => kept === field));
    if (what === "tool" && outputSchema !== undefined) {
      if (isJsonRecord<JsonObject>(outputSchema) && isValid({ ...needed, outputSchema }))
        this.#outputs.set(String(entry.name), outputSchema);
      else left.push("outputSchema");
    }
    if (entry.inputSchema !== (given as JsonObject).inputSchema)
      this.#note(`${named} has an inputSchema without the required type, "object"`, "list");
    if (left.length > 0) this.#note(`${named} is used without these invalid fields: ${left.join(", ")}`, "list");
    return [Object.fromEntries(fields)];
  }

  #called(tool: string, result: JsonObject): JsonObject {
    if (result.resultType !== undefined && result.resultType !== "complete") return result;
    const { content, structuredContent, isError, _meta, ...rest } = result;
    const blocks = (Array.isArray(content) ? content : content === undefined || content === null ? [] : [content]).map(
      (block) => this.#block(tool, block),
    );
    const failed = isError === true || isError === "true";
    const isKept = structuredContent === undefined || isJsonRecord<JsonObject>(structuredContent);
    if (!isKept) blocks.push({ type: "text", text: JSON.stringify(structuredContent) });
    if (!failed) this.#checkStructured(tool, structuredContent);
    return {
      ...rest,
      content: blocks,
      ...(isKept && structuredContent !== undefined && { structuredContent }),
      ...(failed && { isError: true }),
      ...(isJsonRecord<JsonObject>(_meta) && { _meta }),
    };
  }

  /** Notes a result that violates the tool's output schema. The call does not fail, because it has run. */
  #checkStructured(tool: string, structured: unknown): void {
    const schema = this.#outputs.get(tool);
    if (schema === undefined) return;
    if (structured === undefined)
      return this.#note(`the tool ${tool} answered without the structured content that its schema requires`, "call");
    const problem = resultSchemaProblem(schema, structured);
    if (problem !== undefined)
      this.#note(`the structured content of the tool ${tool} is not of its own schema: ${problem}`, "call");
  }

  #block(tool: string, content: unknown): unknown {
    if (isSpecType.ContentBlock(content)) return content;
    const block = isJsonRecord<JsonObject>(content) ? withoutDataUrl(content) : content;
    if (isJsonRecord<JsonObject>(block)) {
      if (isSpecType.ContentBlock(block)) return block;
      const { annotations: _annotations, _meta, ...bare } = block;
      if (isSpecType.ContentBlock(bare)) return bare;
    }
    this.#note(`the tool ${tool} answered with content that violates the protocol`, "call");
    return { type: "text", text: unknownBlockText(block) };
  }
}

const EXAMPLE = { name: "x", uri: "x:x", uriTemplate: "x:{x}", inputSchema: { type: "object" } };

function unknownBlockText(block: unknown): string {
  if (typeof block === "string") return block;
  if (!isJsonRecord<JsonObject>(block)) return JSON.stringify(block) ?? "";
  const { type, text, data, blob } = block;
  if (typeof text === "string") return text;
  const kind = typeof type === "string" ? type : "unknown";
  if (data !== undefined || blob !== undefined) return `[${kind}: it cannot be read, its data is not in base64]`;
  return `[content of the kind ${JSON.stringify(kind)}] ${JSON.stringify(text ?? block)}`;
}

function withoutDataUrl(block: JsonObject): JsonObject {
  const [, mimeType, data] = /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(String(block.data)) ?? [];
  return data === undefined ? block : { ...block, data: data.trim(), mimeType: mimeType || block.mimeType };
}

function withObjectSchema(entry: JsonObject): JsonObject {
  const { inputSchema } = entry;
  if (!isJsonRecord<JsonObject>(inputSchema) || inputSchema.type !== undefined) return entry;
  return { ...entry, inputSchema: { type: "object", ...inputSchema } };
}

/** Returns in one line how a value violates the schema; undefined if it does not. Ignores regular expressions. */
function resultSchemaProblem(schema: JsonObject, value: unknown): string | undefined {
  try {
    const checked = fromJsonSchema(inputSchema(schema).schema as JsonObject)["~standard"].validate(value);
    return checked instanceof Promise || !checked.issues
      ? undefined
      : (checked.issues[0]?.message ?? "it does not fit");
  } catch (error) {
    return `the schema cannot be used (${errorMessage(error)})`;
  }
}
