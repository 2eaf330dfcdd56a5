import type { Json, ModelSettings } from "@banyan/core";
import type { ModelRequest, PromptMessage, ServerTool, ToolSchema } from "@banyan/core/drivers";
import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import type { ListBody } from "../wire/body.ts";
import { encodeText, joinBytes } from "../wire/bytes.ts";
import { featuresOf, type ModelFeatures, thinkingFor } from "./features.ts";
import { type EncodedContents, encodeContents, PROVIDER } from "./messages.ts";
import { withoutConst } from "./schema.ts";

/** Settings of a driver that decide how it encodes requests. */
export interface RequestShape {
  readonly model: string;
  readonly features: ModelFeatures;
  /** Media types of files that the model gets in tool results. */
  readonly takes: readonly string[];
}

export function requestShape(model: string, takes: readonly string[]): RequestShape {
  return { model, features: featuresOf(model), takes };
}

// Messages and tools never change, so each is encoded once. `shape` names the driver if the encoding depends on it.
const encodings = new WeakMap<PromptMessage, EncodedContents & { readonly shape?: RequestShape }>();
const declarations = new WeakMap<readonly ToolSchema[], string>();

/** The fields before the contents, kept for the next step. */
interface KnownHead extends Pick<ModelRequest, "instructions" | "output"> {
  readonly shape: RequestShape;
  readonly text: string;
}
const heads = new WeakMap<ModelSettings, KnownHead>();

/** Encodes the body of a request (https://ai.google.dev/api/generate-content). */
export function encodeGeminiRequest(shape: RequestShape, request: ModelRequest): ListBody {
  const { messages } = request;
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const pieces: Uint8Array[] = [];
  messages.forEach((message, index) => {
    const { bytes, settled = bytes } = encodedContents(message, shape);
    // Google does not continue calls of its own tools after another message of the user.
    const piece = index < lastUser ? settled : bytes;
    if (piece.length > 0) pieces.push(piece);
  });
  if (shape.features.isGemma && messages[0]?.role === "user") pieces.unshift(...instructed(pieces.shift(), request));
  return {
    of: messages,
    before: `${head(shape, request)},"contents":[`,
    pieces,
    after: `]${toolFields(shape, request)}}`,
  };
}

const USER = `,{"role":"user","parts":[`;

/** Returns the first content with the instructions as its first part. */
function instructed(first: Uint8Array | undefined, { instructions }: ModelRequest): Uint8Array[] {
  if (first === undefined || instructions === "") return first === undefined ? [] : [first];
  const part = JSON.stringify({ text: `${instructions}\n\n` });
  return [joinBytes([encodeText(`${USER}${part},`), first.subarray(USER.length)])];
}

/** Returns the body of the request that continues a response which was cut off at the maximum length. */
export function continuedBody(body: ListBody, token: string): ListBody {
  return { ...body, after: `${body.after.slice(0, -1)},"continuationToken":${JSON.stringify(token)}}` };
}

/** Returns the options for Google as the user wrote them. */
export function googleOptions({ providerOptions }: ModelSettings): JsonRecord {
  return providerOptions?.[PROVIDER] ?? {};
}

function encodedContents(message: PromptMessage, shape: RequestShape): EncodedContents {
  let known = encodings.get(message);
  if (!known || (known.shape ?? shape) !== shape) {
    const encoded = encodeContents(message, shape.features.isNew, shape.takes);
    const isOwn =
      message.role === "assistant" && message.parts.some(({ type }) => type === "call" || type === "provider");
    known = isOwn ? { ...encoded, shape } : encoded;
    encodings.set(message, known);
  }
  return known;
}

function head(shape: RequestShape, { settings, instructions, output }: ModelRequest): string {
  const known = heads.get(settings);
  if (known && known.shape === shape && known.instructions === instructions && known.output === output)
    return known.text;
  const options = googleOptions(settings);
  const { safetySettings, threshold, ...rest } = bodyOptions(options);
  const fields = {
    generationConfig: generationConfig(shape, settings, output, options),
    systemInstruction: instructions === "" || shape.features.isGemma ? undefined : { parts: [{ text: instructions }] },
    safetySettings:
      safetySettings ?? (threshold == null ? undefined : HARMS.map((category) => ({ category, threshold }))),
    ...rest,
  };
  const text = JSON.stringify(fields).slice(0, -1);
  heads.set(settings, { shape, instructions, output, text });
  return text;
}

const HARMS = ["HATE_SPEECH", "DANGEROUS_CONTENT", "HARASSMENT", "SEXUALLY_EXPLICIT"].map(
  (harm) => `HARM_CATEGORY_${harm}`,
);

/** Options that are fields of `generationConfig`: https://ai.google.dev/api/generate-content#generationconfig. */
const GENERATION = [
  "audioTimestamp",
  "candidateCount",
  "enableEnhancedCivicAnswers",
  "frequencyPenalty",
  "logprobs",
  "mediaResolution",
  "presencePenalty",
  "responseLogprobs",
  "responseModalities",
  "speechConfig",
  "topK",
];

/** Options that the driver writes itself, or that only Vertex AI knows. */
const OWN = new Set([
  ...GENERATION,
  "contents",
  "continuationToken",
  "generationConfig",
  "imageConfig",
  "requestType",
  "retrievalConfig",
  "sharedRequestType",
  "streamFunctionCallArguments",
  "structuredOutputs",
  "systemInstruction",
  "thinkingConfig",
  "toolConfig",
  "tools",
]);

/** Returns the options that are fields of the body, also unknown ones. */
function bodyOptions(options: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !OWN.has(name)));
}

function generationConfig(
  { model }: RequestShape,
  { temperature, topP, seed, maxTokens, stop, effort }: ModelSettings,
  output: Json | undefined,
  options: JsonRecord,
): JsonRecord {
  const own = recordAt(options, "thinkingConfig");
  const isDecided = own?.thinkingBudget != null || own?.thinkingLevel != null;
  const thinking = effort === undefined || isDecided ? undefined : thinkingFor(model, effort);
  const {
    // The Gemini API refuses these fields, which Vertex AI takes.
    personGeneration: _people,
    prominentPeople: _prominent,
    imageOutputOptions: _output,
    ...imageConfig
  } = recordAt(options, "imageConfig") ?? {};
  return {
    maxOutputTokens: maxTokens,
    temperature,
    topP,
    seed,
    stopSequences: stop && stop.length > 0 ? stop : undefined,
    ...(output !== undefined && {
      responseMimeType: "application/json",
      responseJsonSchema: options.structuredOutputs === false ? undefined : withoutConst(output),
    }),
    thinkingConfig: thinking || own ? { ...thinking, ...own } : undefined,
    imageConfig: Object.keys(imageConfig).length > 0 ? imageConfig : undefined,
    ...Object.fromEntries(GENERATION.flatMap((name) => (name in options ? [[name, options[name]]] : []))),
    ...recordAt(options, "generationConfig"),
  };
}

function recordAt(options: JsonRecord, name: string): JsonRecord | undefined {
  const value = options[name];
  return isJsonRecord(value) ? value : undefined;
}

/** The fields `tools` and `toolConfig`. */
function toolFields({ features }: RequestShape, { tools, toolChoice, settings }: ModelRequest): string {
  const options = googleOptions(settings);
  const served =
    toolChoice === "none" ? [] : (settings.serverTools ?? []).flatMap((tool) => serverTool(tool, features));
  // Older models take either their own tools or functions.
  const hasFunctions = tools.length > 0 && (served.length === 0 || features.isNew);
  const list = [...served.map((tool) => JSON.stringify(tool)), ...(hasFunctions ? [encodedFunctions(tools)] : [])];
  const config = {
    ...(hasFunctions && functionConfig(toolChoice, served.length > 0)),
    ...(options.retrievalConfig == null ? {} : { retrievalConfig: options.retrievalConfig }),
    ...recordAt(options, "toolConfig"),
  };
  const toolConfig = Object.keys(config).length === 0 ? "" : `,"toolConfig":${JSON.stringify(config)}`;
  return `${list.length === 0 ? "" : `,"tools":[${list.join(",")}]`}${toolConfig}`;
}

function functionConfig(choice: ModelRequest["toolChoice"], isMixed: boolean): JsonRecord {
  // https://ai.google.dev/gemini-api/docs/tool-combination
  const auto = isMixed ? "VALIDATED" : "AUTO";
  const mode = choice === "auto" ? auto : choice === "none" ? "NONE" : "ANY";
  return {
    functionCallingConfig: { mode, ...(typeof choice === "object" && { allowedFunctionNames: [choice.tool] }) },
    ...(isMixed && { includeServerSideToolInvocations: true }),
  };
}

function encodedFunctions(tools: readonly ToolSchema[]): string {
  let text = declarations.get(tools);
  if (text === undefined) {
    const functionDeclarations = tools.map(({ name, description, input }) => {
      return { name, description, parametersJsonSchema: input };
    });
    text = JSON.stringify({ functionDeclarations });
    declarations.set(tools, text);
  }
  return text;
}

/** Encodes a tool that Google runs. Leaves out tools that the model does not have. */
function serverTool({ id, args = {} }: ServerTool, features: ModelFeatures): readonly JsonRecord[] {
  const [provider, name = ""] = id.split(".", 2);
  if (provider !== PROVIDER || !(name === "file_search" ? features.hasFileSearch : features.hasServerTools)) return [];
  if (name === "vertex_rag_store") {
    const { ragCorpus: rag_corpus, topK: similarity_top_k } = args;
    return [{ retrieval: { vertex_rag_store: { rag_resources: { rag_corpus }, similarity_top_k } } }];
  }
  return [{ [name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())]: args }];
}
