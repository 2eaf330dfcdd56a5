// Limits of providers, by their documentation and error messages. The product and this file do not read each other, so that
// each checks the other.

type Json = Readonly<Record<string, unknown>>;

/** The parts of a request with limits, in any format. */
export interface Seen {
  readonly tools: readonly { readonly name: string; readonly schema: Json }[];
  readonly calls: readonly { readonly id?: string; readonly name: string }[];
  readonly results: readonly { readonly id?: string; readonly name?: string }[];
  readonly texts: readonly string[];
  /** Base 64. */
  readonly pictures: readonly string[];
  readonly roles: readonly string[];
}

interface Limits {
  readonly name: RegExp;
  readonly id?: RegExp;
  readonly tools?: number;
  readonly property?: RegExp;
  readonly blankTexts?: false;
  readonly arraysNeedItems?: true;
  readonly userAfterTool?: false;
  readonly pictures?: {
    readonly kinds?: readonly string[];
    readonly side?: number;
    readonly pixels?: number;
    readonly base64?: number;
    readonly most?: number;
    readonly crowd?: readonly [number, number];
  };
}

const KINDS = ["png", "jpeg", "webp", "gif"];

const USUAL = /^[a-zA-Z0-9_-]{1,64}$/;

/** By format and provider; or by model, for any server. */
const LIMITS: Readonly<Record<string, Limits>> = {
  // https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools (names),
  // https://platform.claude.com/docs/en/build-with-claude/vision (pictures); ids, properties and blank texts by its errors:
  // "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", "Property keys should match pattern
  // '^[a-zA-Z0-9_.-]{1,64}$'", "text content blocks must contain non-whitespace text".
  anthropic: {
    name: USUAL,
    id: /^[a-zA-Z0-9_-]+$/,
    property: /^[a-zA-Z0-9_.-]{1,64}$/,
    blankTexts: false,
    pictures: { kinds: KINDS, side: 8000, base64: 5 * 1024 * 1024, most: 100, crowd: [20, 2000] },
  },
  // https://platform.openai.com/docs/api-reference/chat/create (128 functions, names); the length of an id by its error:
  // "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40".
  // https://developers.openai.com/api/docs/guides/images-vision: kinds, 1,500 pictures.
  "openai-chat": {
    name: USUAL,
    id: /^.{1,40}$/s,
    tools: 128,
    arraysNeedItems: true,
    pictures: { kinds: KINDS, most: 1500 },
  },
  // By its error: "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64".
  openai: {
    name: USUAL,
    id: /^.{1,64}$/s,
    tools: 128,
    arraysNeedItems: true,
    pictures: { kinds: KINDS, most: 1500 },
  },
  // https://learn.microsoft.com/azure/ai-services/openai/concepts/gpt-with-vision: 20 MB, 10 pictures; and
  // https://learn.microsoft.com/azure/ai-foundry/openai/how-to/gpt-with-vision: kinds.
  azure: {
    name: USUAL,
    id: /^.{1,64}$/s,
    tools: 128,
    arraysNeedItems: true,
    pictures: { kinds: KINDS, base64: (20_000_000 * 4) / 3 + 4, most: 10 },
  },
  // https://docs.x.ai/docs/guides/function-calling, https://docs.x.ai/developers/model-capabilities/images/understanding
  xai: {
    name: USUAL,
    tools: 128,
    pictures: { kinds: ["png", "jpeg"], base64: (20 * 1024 * 1024 * 4) / 3 + 4 },
  },
  // https://ai.google.dev/api/caching#FunctionDeclaration, https://ai.google.dev/gemini-api/docs/image-understanding
  google: {
    name: /^[a-zA-Z_][a-zA-Z0-9_:.-]{0,63}$/,
    pictures: { kinds: ["png", "jpeg", "webp", "heic", "heif"], base64: 20_000_000, most: 3600 },
  },
  // https://docs.mistral.ai/capabilities/vision (pictures); ids and order by its errors: "Tool call id was ... but must be
  // a-z, A-Z, 0-9, with a length of 9.", "Unexpected role 'user' after role 'tool'".
  mistral: {
    name: USUAL,
    id: /^[a-zA-Z0-9]{9}$/,
    userAfterTool: false,
    pictures: { kinds: KINDS, base64: (10_000_000 * 4) / 3 + 4, most: 8 },
  },
  // https://console.groq.com/docs/tool-use, https://console.groq.com/docs/vision
  groq: { name: USUAL, tools: 128, pictures: { pixels: 33_177_600, base64: 4 * 1024 * 1024, most: 5 } },
  // https://api-docs.deepseek.com/api/create-chat-completion; no pictures by its error: "unknown variant `image_url`,
  // expected `text`".
  deepseek: { name: USUAL, tools: 128, pictures: { most: 0 } },
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html and API_runtime_ImageBlock.html
  "amazon-bedrock": {
    name: USUAL,
    id: /^[a-zA-Z0-9_-]{1,64}$/,
    blankTexts: false,
    property: /^[a-zA-Z0-9_.-]{1,64}$/,
    pictures: { kinds: KINDS, side: 8000, base64: 5 * 1024 * 1024, most: 20 },
  },
  // A server that forwards requests to OpenAI.
  "openai-compatible": { name: USUAL, id: /^.{1,40}$/s, tools: 128, arraysNeedItems: true },
  // A server with the strictest tokenizer of Mistral's models.
  "devstral-small": { name: USUAL, id: /^[a-zA-Z0-9]{9}$/, userAfterTool: false },
  // https://docs.ollama.com/api/openai-compatibility
  ollama: { name: USUAL },
};

/** Keywords that OpenAI and Anthropic refuse at the top of a schema, by their errors. */
const AT_TOP = ["anyOf", "oneOf", "allOf", "not", "enum"];

/** Lists what a provider would refuse in a request; empty if it would accept the request. */
export function violations(provider: string, body: unknown): string[] {
  const limits = LIMITS[String((body as Json).model)] ?? LIMITS[provider];
  if (!limits) throw new Error(`no limits for ${provider}`);
  const seen = seenIn(body as Json);
  const found: string[] = [];
  const check = (isFine: boolean, what: string) => {
    if (!isFine) found.push(what);
  };
  eachText(body, (text) => check(text.isWellFormed(), `half a pair in ${JSON.stringify(text.slice(0, 40))}`));
  for (const { name, schema } of seen.tools) {
    check(limits.name.test(name), `tool ${name}`);
    check(schema.type === undefined || String(schema.type).toLowerCase() === "object", `${name} takes no object`);
    for (const keyword of AT_TOP) check(!(keyword in schema), `${name} has ${keyword} at the top`);
    eachSchema(schema, (one) => {
      for (const key of Object.keys((one.properties as object) ?? {}))
        check(limits.property?.test(key) !== false, `property ${key}`);
      check(
        !limits.arraysNeedItems || one.type !== "array" || isObject(one.items),
        `${name} has an array without items`,
      );
      for (const keyword of outdatedIn(one)) check(false, `${keyword} of ${name} is not of draft 2020-12`);
    });
  }
  check(seen.tools.length <= (limits.tools ?? Number.POSITIVE_INFINITY), `${seen.tools.length} tools`);
  check(new Set(seen.tools.map(({ name }) => name)).size === seen.tools.length, "two tools of one name");
  for (const { id, name } of seen.calls) {
    check(limits.name.test(name), `call of ${name}`);
    if (id !== undefined) check(limits.id?.test(id) !== false, `id ${id}`);
  }
  for (const { id, name } of seen.results) {
    if (name !== undefined) check(limits.name.test(name), `result of ${name}`);
    if (id !== undefined)
      check(
        seen.calls.some((call) => call.id === id),
        `a result of no call: ${id}`,
      );
  }
  const ids = seen.calls.flatMap(({ id }) => id ?? []);
  check(new Set(ids).size === ids.length, "two calls of one id");
  if (limits.blankTexts === false) for (const text of seen.texts) check(text.trim() !== "", "a blank text");
  if (limits.userAfterTool === false) {
    check(!seen.roles.some((role, index) => role === "user" && seen.roles[index - 1] === "tool"), "user after tool");
  }
  const { pictures } = limits;
  if (pictures) {
    const any = Number.POSITIVE_INFINITY;
    const { most = any, base64 = any, pixels = any, kinds } = pictures;
    check(seen.pictures.length <= most, `${seen.pictures.length} pictures`);
    const [above, small] = pictures.crowd ?? [any, 0];
    const side = seen.pictures.length > above ? small : (pictures.side ?? any);
    for (const data of seen.pictures) {
      check(data.length <= base64, `${data.length} characters of a picture`);
      const header = Buffer.from(data.slice(0, 64), "base64");
      const kind = kindOf(header);
      check(kinds?.includes(kind) !== false, `a picture of the kind ${kind}`);
      if (kind !== "png") continue;
      const [width, height] = [header.readUInt32BE(16), header.readUInt32BE(20)];
      check(Math.max(width, height) <= side && width * height <= pixels, "a picture with too many pixels");
    }
  }
  return found;
}

function kindOf(header: Buffer): string {
  const begin = header.toString("latin1", 0, 4);
  return { "\x89PNG": "png", GIF8: "gif", "BM..": "bmp" }[begin] ?? begin;
}

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];

/**
 * Keywords with another form in JSON Schema draft 2020-12, which Anthropic requires by its error: "JSON schema is invalid.
 * It must match JSON Schema draft 2020-12". The forms: https://json-schema.org/draft/2020-12/schema.
 */
function outdatedIn(schema: Json): string[] {
  const { $schema, type, required, items, exclusiveMinimum, exclusiveMaximum } = schema;
  const forms: Readonly<Record<string, boolean>> = {
    $schema: $schema === undefined || $schema === "https://json-schema.org/draft/2020-12/schema",
    type: type === undefined || [type].flat().every((one) => TYPES.includes(one as string)),
    required: required === undefined || Array.isArray(required),
    items: items === undefined || typeof items === "boolean" || isObject(items),
    exclusiveMinimum: exclusiveMinimum === undefined || typeof exclusiveMinimum === "number",
    exclusiveMaximum: exclusiveMaximum === undefined || typeof exclusiveMaximum === "number",
  };
  return Object.keys(forms).filter((keyword) => !forms[keyword]);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function seenIn(body: Json): Seen {
  const seen = {
    tools: [] as Seen["tools"][number][],
    calls: [] as Seen["calls"][number][],
    results: [] as Seen["results"][number][],
  };
  const texts: string[] = [];
  const pictures: string[] = [];
  const roles: string[] = [];
  const list = (value: unknown) => (Array.isArray(value) ? (value as Json[]) : []);
  for (const tool of list(body.tools)) {
    const fn = (tool.function ?? tool) as Json;
    for (const declared of list(tool.functionDeclarations)) {
      seen.tools.push({
        name: String(declared.name),
        schema: (declared.parameters ?? declared.parametersJsonSchema ?? {}) as Json,
      });
    }
    if (typeof fn.name === "string")
      seen.tools.push({ name: fn.name, schema: (fn.parameters ?? fn.input_schema ?? {}) as Json });
  }
  for (const { toolSpec } of list((body.toolConfig as Json | undefined)?.tools)) {
    const { name, inputSchema } = (toolSpec ?? {}) as Json;
    if (typeof name === "string") seen.tools.push({ name, schema: (inputSchema as Json).json as Json });
  }
  const block = (one: Json) => {
    const { functionCall, functionResponse, toolUse, toolResult } = one as Readonly<Record<string, Json | undefined>>;
    if (typeof one.text === "string") texts.push(one.text);
    if (one.type === "tool_use") seen.calls.push({ id: String(one.id), name: String(one.name) });
    if (one.type === "tool_result") seen.results.push({ id: String(one.tool_use_id) });
    if (functionCall) seen.calls.push({ name: String(functionCall.name) });
    if (functionResponse) seen.results.push({ name: String(functionResponse.name) });
    if (toolUse) seen.calls.push({ id: String(toolUse.toolUseId), name: String(toolUse.name) });
    if (toolResult) seen.results.push({ id: String(toolResult.toolUseId) });
    for (const inner of [one.content, toolResult?.content]) for (const part of list(inner)) block(part);
    const source = (one.source ?? (one.image as Json | undefined)?.source) as Json | undefined;
    const url = typeof one.image_url === "string" ? one.image_url : (one.image_url as Json | undefined)?.url;
    const data =
      one.type === "document"
        ? undefined
        : (source?.data ?? source?.bytes ?? (one.inlineData as Json | undefined)?.data);
    const picture = data ?? (typeof url === "string" ? url.replace(/^data:.*?,/, "") : undefined);
    if (typeof picture === "string") pictures.push(picture);
  };
  for (const system of list(body.system)) block(system);
  for (const message of list(body.messages ?? body.input ?? body.contents)) {
    if (typeof message.role === "string") roles.push(message.role);
    for (const { id, function: fn } of list(message.tool_calls))
      seen.calls.push({ id: String(id), name: String((fn as Json).name) });
    if (typeof message.tool_call_id === "string") seen.results.push({ id: message.tool_call_id });
    if (message.type === "function_call") seen.calls.push({ id: String(message.call_id), name: String(message.name) });
    if (message.type === "function_call_output") {
      seen.results.push({ id: String(message.call_id) });
      for (const part of list(message.output)) block(part);
    }
    if (typeof message.content === "string" && message.role !== "tool") texts.push(message.content);
    for (const part of list(message.content ?? message.parts)) block(part);
  }
  return { ...seen, texts, pictures, roles };
}

function eachText(value: unknown, visit: (text: string) => void): void {
  if (typeof value === "string") visit(value);
  else if (Array.isArray(value)) for (const item of value) eachText(item, visit);
  else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      visit(key);
      eachText(item, visit);
    }
  }
}

function eachSchema(schema: unknown, visit: (schema: Json) => void): void {
  if (Array.isArray(schema)) for (const one of schema) eachSchema(one, visit);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return;
  visit(schema as Json);
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "properties" || keyword === "$defs" || keyword === "definitions")
      for (const inner of Object.values(value as object)) eachSchema(inner, visit);
    else eachSchema(value, visit);
  }
}
