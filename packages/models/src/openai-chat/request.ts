import type { Json, ModelSettings } from "@banyan/core";
import type { ModelRequest, PromptMessage, ToolChoice, ToolSchema } from "@banyan/core/drivers";
import type { ListBody } from "../wire/body.ts";
import { encodeText } from "../wire/bytes.ts";
import { encodeChatMessage } from "./messages.ts";

/** Settings of a driver that decide how it encodes requests. */
export interface ChatRequestShape {
  readonly model: string;
  /** The name of this driver's `providerOptions`. */
  readonly provider: string;
  /** Media types of files that the model gets in tool results. */
  readonly takes?: readonly string[] | undefined;
  /** True if each response with calls needs the field `reasoning_content`. */
  readonly needsReasoning?: boolean;
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** True for OpenAI's own server, which knows more parameters than others. */
  readonly isOpenAI?: boolean;
}

// Messages and tool lists never change, so each is encoded once for all drivers, apart from data for one provider.
const encodings = new WeakMap<PromptMessage, Uint8Array | EncodedBytes>();
/** Bytes that not all drivers send. */
interface EncodedBytes {
  readonly bytes: Uint8Array;
  /** The only provider for which the bytes are valid. Absent: the bytes are valid for all providers. */
  readonly provider?: string;
  /** The bytes are valid only for drivers with these media types. */
  readonly takes?: readonly string[] | undefined;
  readonly needsReasoning?: boolean | undefined;
}

interface KnownList {
  readonly shape: ChatRequestShape;
  readonly instructions: string;
  readonly messages: PromptMessage[];
  /** The instructions, if any, and the messages. */
  readonly pieces: Uint8Array[];
}
const lists = new WeakMap<readonly PromptMessage[], KnownList>();

interface KnownTools {
  readonly text: string;
  readonly names: ReadonlySet<string>;
}
const knownTools = new WeakMap<readonly ToolSchema[], KnownTools>();

/** Encodes the body of a request (https://platform.openai.com/docs/api-reference/chat/create). */
export function encodeChatRequest(shape: ChatRequestShape, request: ModelRequest): ListBody {
  const { instructions, messages, settings, output } = request;
  const head = JSON.stringify(requestHead(shape, settings, output)).slice(0, -1);
  const pieces = [...encodedPieces(messages, instructions, shape)];
  return { of: messages, before: `${head},"messages":[`, pieces, after: `]${toolsField(request)}}` };
}

function requestHead(
  shape: ChatRequestShape,
  settings: ModelSettings,
  output: ModelRequest["output"],
): Readonly<Record<string, unknown>> {
  // As options, these two would be in the body twice.
  const { messages: _messages, tools: _tools, ...options } = settings.providerOptions?.[shape.provider] ?? {};
  const head = {
    model: shape.model,
    temperature: settings.temperature,
    top_p: settings.topP,
    seed: settings.seed,
    [shape.maxTokensField]: settings.maxTokens,
    stop: settings.stop,
    // The format has no `max`; `high` is the highest effort that every server knows.
    reasoning_effort: settings.effort === "max" ? "high" : settings.effort,
    // Obfuscation would add random characters to each event.
    stream_options: { include_usage: true, ...(shape.isOpenAI && { include_obfuscation: false }) },
    prompt_cache_key: shape.isOpenAI ? settings.cacheKey : undefined,
    response_format: output && {
      type: "json_schema",
      json_schema: { name: "result", strict: true, schema: output },
    },
    ...options,
    stream: true,
  };
  // A server without support for `stream_options` refuses `null` too.
  return options.stream_options === null ? { ...head, stream_options: undefined } : head;
}

function toolsField({ tools, toolChoice }: ModelRequest): string {
  if (tools.length === 0) return "";
  // Some servers do not know the field, so the default is not sent.
  const choice = toolChoice === "auto" ? "" : `,"tool_choice":${JSON.stringify(encodedChoice(toolChoice))}`;
  return `,"tools":${encodedTools(tools).text}${choice}`;
}

function encodedChoice(choice: ToolChoice): Json {
  return typeof choice === "string" ? choice : { type: "function", function: { name: choice.tool } };
}

export function requestToolNames(tools: readonly ToolSchema[]): ReadonlySet<string> {
  return encodedTools(tools).names;
}

function encodedTools(tools: readonly ToolSchema[]): KnownTools {
  let known = knownTools.get(tools);
  if (!known) {
    const fields = tools.map(({ name, description, input }) => ({
      type: "function",
      function: { name, description, parameters: input },
    }));
    known = { text: JSON.stringify(fields), names: new Set(tools.map(({ name }) => name)) };
    knownTools.set(tools, known);
  }
  return known;
}

function encodedPieces(
  messages: readonly PromptMessage[],
  instructions: string,
  shape: ChatRequestShape,
): readonly Uint8Array[] {
  let list = lists.get(messages);
  const grew = list?.messages.every((message, index) => message === messages[index]);
  if (!list || !grew || list.shape !== shape || list.instructions !== instructions) {
    const pieces = instructions === "" ? [] : [piece({ role: "system", content: instructions })];
    list = { shape, instructions, messages: [], pieces };
    lists.set(messages, list);
  }
  for (let index = list.messages.length; index < messages.length; index++) {
    const message = messages[index] as PromptMessage;
    list.messages.push(message);
    list.pieces.push(encodedChatMessage(message, shape));
  }
  return list.pieces;
}

function encodedChatMessage(message: PromptMessage, shape: ChatRequestShape): Uint8Array {
  const known = encodings.get(message);
  if (known instanceof Uint8Array) return known;
  if (known && isFor(known, shape)) return known.bytes;
  const { provider, takes, needsReasoning = false } = shape;
  const { messages, owned, hasFiles, hasCalls } = encodeChatMessage(message, provider, takes, needsReasoning);
  const bytes = piece(...messages);
  const encoded: EncodedBytes = {
    bytes,
    ...(owned ? { provider } : {}),
    ...(hasFiles ? { takes } : {}),
    ...(hasCalls ? { needsReasoning } : {}),
  };
  encodings.set(message, Object.keys(encoded).length === 1 ? bytes : encoded);
  return bytes;
}

function isFor(known: EncodedBytes, { provider, takes, needsReasoning = false }: ChatRequestShape): boolean {
  return (
    (known.provider ?? provider) === provider &&
    (!("takes" in known) || known.takes === takes) &&
    (known.needsReasoning ?? needsReasoning) === needsReasoning
  );
}

function piece(...messages: readonly object[]): Uint8Array {
  return encodeText(messages.map((message) => `,${JSON.stringify(message)}`).join(""));
}
