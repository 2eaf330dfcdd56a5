import { ModelError } from "@banyan/core";
import { addUsage, cleanUsage, noUsage, type ProviderData } from "@banyan/core/conversation";
import {
  type FinishReason,
  finishReason,
  type ModelPart,
  type ProviderAction,
  providedCall,
  providedResult,
} from "@banyan/core/drivers";
import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import { Batch } from "../wire/batch.ts";
import { type Endpoint, errorIn, errorInAnswer, errorOfEnd, parseEvent } from "../wire/errors.ts";
import { countAt, textAt } from "../wire/json.ts";
import type { AnswerDecoder } from "../wire/response.ts";
import { laterUsage } from "../wire/usage.ts";
import { PROVIDER } from "./messages.ts";
import { RepeatedChunks } from "./repeated-chunks.ts";
import { sourcesIn } from "./sources.ts";

interface StreamedBlock {
  readonly type: "text" | "reasoning";
  signature: string;
  empty: boolean;
}

/** Reasons without a meaning: the default values of these fields. */
const UNSPECIFIED = /^(|(FINISH|BLOCK(ED)?)_REASON_UNSPECIFIED)$/;

/**
 * Decodes one answer of Gemini's API (https://ai.google.dev/api/generate-content), which can consist of several
 * responses. `take` returns the parts that have arrived, and after the last `end` also `finish`. Throws `ModelError`
 * for an error of the server and for an invalid answer.
 */
export class GeminiAnswer implements AnswerDecoder {
  /** Always false, because the format has no end mark. */
  readonly done = false;
  readonly #endpoint: Endpoint;
  readonly #codeTool: string;
  readonly #batch = new Batch();
  /** Reads chunks that contain only the next fragment of the same text. */
  readonly #repeated = new RepeatedChunks();
  #block: StreamedBlock | undefined;
  readonly #cited = new Set<string>();
  #calls = 0;
  /** Ids of Google's last calls, for results without ids. */
  #code = "";
  #action = "";
  #hasContent = false;
  #reason = "";
  #isBlocked = false;
  #explanation = "";
  #token = "";
  #model = "";
  #usage = noUsage;
  /** Counts of the responses before this one. */
  #earlier = noUsage;

  /** `codeTool`: the request's name for Google's tool that runs code. */
  constructor(endpoint: Endpoint, codeTool = "code_execution") {
    this.#endpoint = endpoint;
    this.#codeTool = codeTool;
  }

  /** True if the last content came with a reason to finish. The counts may still be missing. */
  get answered(): boolean {
    return this.#isBlocked || this.#reason !== "";
  }

  /** The token of the request that continues the answer; undefined if the answer is complete. */
  get continuation(): string | undefined {
    return this.#reason === "CONTINUATION" && this.#token !== "" ? this.#token : undefined;
  }

  /** Expects one more response of the same answer. */
  continue(): void {
    this.#earlier = addUsage(this.#earlier, this.#usage);
    this.#usage = noUsage;
    this.#reason = "";
    this.#token = "";
  }

  data(text: string): void {
    if (text === "" || this.#repeated.read(text)) return;
    this.#countLast();
    const chunk = this.#parsed(text);
    if (!chunk) return;
    this.#count(chunk);
    this.#model = textAt(chunk, "modelVersion") || this.#model;
    if (isJsonRecord(chunk.promptFeedback))
      this.#isBlocked ||= !UNSPECIFIED.test(textAt(chunk.promptFeedback, "blockReason"));
    const candidate: unknown = Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined;
    // A blocked prompt has no answer.
    if (!isJsonRecord(candidate) || this.#isBlocked) return;
    this.#candidate(candidate);
    if (this.#repeated.learns) this.#learn(text, chunk, candidate);
  }

  #count({ usageMetadata }: JsonRecord): void {
    if (isJsonRecord(usageMetadata)) this.#usage = laterUsage(this.#usage, geminiUsage(usageMetadata));
  }

  /** Counts the tokens of chunks that were not parsed. */
  #countLast(): void {
    const last = this.#repeated.takeLast();
    if (last !== undefined) this.#count(JSON.parse(last));
  }

  /** Learns the form of a chunk that only has a fragment of a text, and counts. */
  #learn(text: string, chunk: JsonRecord, candidate: JsonRecord): void {
    const parts = isJsonRecord(candidate.content) ? candidate.content.parts : undefined;
    const part: unknown = Array.isArray(parts) && parts.length === 1 ? parts[0] : undefined;
    if (!isJsonRecord(part) || !hasOnly(chunk, CHUNK) || !hasOnly(candidate, CANDIDATE) || !hasOnly(part, PART)) return;
    const said = textAt(part, "text");
    if (said === "") return;
    const type = part.thought === true ? "reasoning" : "text";
    this.#repeated.learn(text, said, (more) => {
      // An empty text does not take back the reason to finish.
      if (more !== "") this.#reason = "";
      if (!this.#isBlocked) this.#text(type, more, "");
    });
  }

  #parsed(text: string): JsonRecord | undefined {
    const isWhole = this.answered;
    try {
      const chunk = parseEvent(this.#endpoint, text);
      const error = errorIn(chunk, "candidates" in chunk || "usageMetadata" in chunk || "promptFeedback" in chunk);
      if (error === undefined) return chunk;
      throw errorInAnswer(this.#endpoint, error);
    } catch (error) {
      if (isWhole && error instanceof ModelError) return undefined;
      throw error;
    }
  }

  #candidate(candidate: JsonRecord): void {
    this.#explanation = textAt(candidate, "finishMessage") || this.#explanation;
    this.#token = textAt(candidate, "continuationToken") || this.#token;
    for (const source of sourcesIn(candidate.groundingMetadata)) {
      if (this.#cited.has(source.url)) continue;
      this.#cited.add(source.url);
      this.#batch.add(source);
    }
    this.#hasContent = false;
    const parts = isJsonRecord(candidate.content) ? candidate.content.parts : undefined;
    if (Array.isArray(parts)) for (const part of parts) if (isJsonRecord(part)) this.#part(part);
    const reason = textAt(candidate, "finishReason");
    if (!UNSPECIFIED.test(reason)) this.#reason = reason;
    // Some gateways report a reason too early, with empty parts.
    else if (this.#hasContent) this.#reason = "";
  }

  end(): void {
    this.#countLast();
    if (this.continuation !== undefined) return;
    this.#close();
    if (!this.answered) throw errorOfEnd(this.#endpoint);
    const reason = this.#meaning();
    const model = this.#model.replace(/^models\//, "");
    this.#batch.add({
      type: "finish",
      reason,
      usage: cleanUsage(addUsage(this.#earlier, this.#usage)),
      ...(model !== "" && model !== this.#endpoint.model.replace(/^models\//, "") ? { model } : {}),
      ...(reason === "filtered" && this.#explanation !== "" ? { explanation: this.#explanation } : {}),
    });
  }

  take(): readonly ModelPart[] {
    return this.#batch.take();
  }

  /** Google reports `STOP` for an answer with calls. */
  #meaning(): FinishReason {
    if (this.#isBlocked) return "filtered";
    const reason = finishReason("any", this.#reason, this.#endpoint.id);
    if (reason === "stop" && this.#calls > 0) return "calls";
    return reason === "calls" && this.#calls === 0 ? "stop" : reason;
  }

  #part(part: JsonRecord): void {
    const signature = textAt(part, "thoughtSignature");
    const { functionCall, inlineData, toolCall, toolResponse, executableCode, codeExecutionResult, text } = part;
    if (isJsonRecord(functionCall)) this.#call(functionCall, signature);
    // Messages cannot contain generated files.
    else if (isJsonRecord(inlineData)) this.#close();
    else if (isJsonRecord(toolCall)) this.#toolCall(toolCall, signature);
    else if (isJsonRecord(toolResponse)) this.#toolResponse(toolResponse, signature);
    else if (isJsonRecord(executableCode) && textAt(executableCode, "code") !== "") this.#run(executableCode);
    else if (isJsonRecord(codeExecutionResult)) this.#ran(codeExecutionResult);
    else if (typeof text === "string") this.#text(part.thought === true ? "reasoning" : "text", text, signature);
  }

  #text(type: StreamedBlock["type"], text: string, signature: string): void {
    if (text === "") return this.#sign(type, signature);
    let block = this.#block;
    if (block?.type !== type) {
      this.#close();
      block = { type, signature: "", empty: true };
      this.#block = block;
    }
    if (signature !== "") block.signature = signature;
    block.empty = false;
    this.#hasContent = true;
    this.#batch.text(type, text);
  }

  /** A signature without text belongs to the text before it, or else stands alone. */
  #sign(type: StreamedBlock["type"], signature: string): void {
    if (signature === "") return;
    if (this.#block?.type === "text") {
      this.#block.signature = signature;
      return;
    }
    this.#close();
    this.#block = { type, signature, empty: true };
    this.#close();
  }

  #call(call: JsonRecord, signature: string): void {
    if (call.willContinue === true || Array.isArray(call.partialArgs)) throw callInPieces(this.#endpoint);
    if (typeof call.name !== "string") return;
    this.#close();
    this.#hasContent = true;
    const index = this.#calls++;
    const { args = {} } = call;
    const input = typeof args === "string" ? args : JSON.stringify(args ?? {});
    this.#batch.add({ type: "call", index, id: textAt(call, "id"), tool: call.name });
    if (input !== "") this.#batch.callInput(index, input);
    const end = { type: "call-end", index } as const;
    this.#batch.add(signature === "" ? end : { ...end, provider: { [PROVIDER]: { thoughtSignature: signature } } });
  }

  #toolCall(call: JsonRecord, signature: string): void {
    this.#action = textAt(call, "id") || crypto.randomUUID();
    const input = JSON.stringify(call.args ?? {});
    this.#act(providedCall({ type: "tool-call", input, ...aboutAction(call, this.#action, signature) }));
  }

  #toolResponse(response: JsonRecord, signature: string): void {
    const id = this.#action || textAt(response, "id") || crypto.randomUUID();
    this.#action = "";
    const result = (response.response ?? {}) as Parameters<typeof providedResult>[0]["result"];
    this.#act(providedResult({ type: "tool-result", result, ...aboutAction(response, id, signature) }));
  }

  #run(code: JsonRecord): void {
    this.#code = crypto.randomUUID();
    const input = JSON.stringify({ language: textAt(code, "language"), code: textAt(code, "code") });
    this.#act(providedCall({ type: "tool-call", toolCallId: this.#code, toolName: this.#codeTool, input }));
  }

  #ran(result: JsonRecord): void {
    if (this.#code === "") return;
    const said = { outcome: textAt(result, "outcome"), output: textAt(result, "output") };
    this.#act(providedResult({ type: "tool-result", toolCallId: this.#code, toolName: this.#codeTool, result: said }));
  }

  #act({ text, part }: ProviderAction): void {
    this.#hasContent = true;
    const block = this.#block;
    this.#close();
    this.#batch.add({ type: "provider", text, provider: { [PROVIDER]: { part } } });
    // The text goes on after the action.
    if (block) this.#block = { type: block.type, signature: "", empty: true };
  }

  #close(): void {
    const block = this.#block;
    if (!block) return;
    this.#block = undefined;
    const provider: ProviderData | undefined =
      block.signature === "" ? undefined : { [PROVIDER]: { thoughtSignature: block.signature } };
    if (block.empty && !provider) return;
    // Hidden thoughts have no text, but must be sent back.
    if (block.empty) this.#batch.add({ type: block.type, text: "" });
    this.#batch.add(provider ? { type: "part-end", provider } : { type: "part-end" });
  }
}

/** Google sends arguments in pieces only if a request asks for them. */
function callInPieces({ address }: Endpoint): ModelError {
  const fact = `${address} sends the arguments of a call in pieces, which this driver cannot read`;
  const advice = "leave out streamFunctionCallArguments, or use the driver package";
  return new ModelError("invalid-request", { fact, advice });
}

/** The fields of chunks whose form can be learnt. */
const CHUNK = new Set(["candidates", "usageMetadata", "modelVersion", "responseId"]);
const CANDIDATE = new Set(["content", "index"]);
const PART = new Set(["text", "thought"]);

function hasOnly(record: JsonRecord, fields: ReadonlySet<string>): boolean {
  return Object.keys(record).every((name) => fields.has(name));
}

/** The fields that the call and the result of a tool of Google have in common. */
function aboutAction(action: JsonRecord, id: string, signature: string) {
  const serverToolType = textAt(action, "toolType");
  const own = {
    ...(signature === "" ? {} : { thoughtSignature: signature }),
    serverToolCallId: id,
    serverToolType,
  };
  return { toolCallId: id, toolName: `server:${serverToolType}`, providerMetadata: { [PROVIDER]: own } };
}

/** Cached tokens are part of the prompt; thoughts are not part of the candidates. */
function geminiUsage(usage: JsonRecord) {
  const reasoning = countAt(usage, "thoughtsTokenCount");
  return {
    input: countAt(usage, "promptTokenCount") + countAt(usage, "toolUsePromptTokenCount"),
    cached: countAt(usage, "cachedContentTokenCount"),
    cacheWrite: 0,
    output: countAt(usage, "candidatesTokenCount") + reasoning,
    reasoning,
  };
}
