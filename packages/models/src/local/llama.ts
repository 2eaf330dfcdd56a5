import { stat } from "node:fs/promises";
import { availableParallelism, homedir } from "node:os";
import { join, resolve } from "node:path";
import { type ModelDriver, ModelError } from "@banyan/core";
import { legalOutput, type ModelPart, type ModelRequest, type ModelSink, rulesFor } from "@banyan/core/drivers";
import { orAborted } from "@banyan/core/hosts";
import { errorMessage } from "@banyan/core/shown";
import { ModelChoiceError } from "../provider/model-choice-error.ts";
import type { ModelTarget } from "../provider/provider.ts";
import { alive } from "./driver.ts";
import type { Llama, LlamaCallChunk, LlamaChat, LlamaLibrary, LlamaModel } from "./llama-library.ts";
import { grammarSchema, llamaFunctions, llamaHistory } from "./llama-prompt.ts";

const RULES = rulesFor("local", "");

/** A model file in memory. */
interface LoadedFile {
  readonly llama: Llama;
  readonly chat: LlamaChat;
  readonly tokenizer: LlamaModel["tokenizer"];
  /** Tokens of a request and its response together. */
  readonly contextSize: number;
}

/**
 * Creates the driver of a model file, which runs in this process. The first request loads the file, and the file stays
 * in memory until the process ends. Requests run one after the other. Rejects with `ModelChoiceError` if there is no
 * such file.
 */
export async function llamaFile(library: LlamaLibrary, target: ModelTarget): Promise<ModelDriver> {
  const { id, price, contextSize, settings } = target;
  const file = await existingFile(target.model);
  let loaded: LoadedFile | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const load = async (): Promise<LoadedFile> => {
    try {
      loaded ??= await loadFile(library, file, contextSize);
      return loaded;
    } catch (error) {
      throw cannotLoad(id, file, error);
    }
  };
  /** Runs work after all earlier work, so that the model is loaded once and answers one request at a time. */
  const next = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };

  return {
    id,
    family: "llama",
    price,
    settings,
    get contextSize() {
      return loaded?.contextSize ?? contextSize;
    },
    async learnContextSize(signal) {
      // The first request reports the error.
      if (!loaded)
        await orAborted(
          next(load).catch(() => {}),
          signal,
        );
    },
    oneAtATime: true,
    pictureProblem: ({ mediaType }) => (mediaType.startsWith("image/") ? "reads only text" : undefined),
    async stream(request, sink, signal) {
      signal.throwIfAborted();
      refuseForcedCall(request, id);
      // The list of messages grows while earlier requests run.
      const now = { ...request, messages: request.messages.slice() };
      const response = next(async () => {
        signal.throwIfAborted();
        await respond(await load(), now, id, sink, signal);
      });
      await alive(sink, Promise.resolve(orAborted(response, signal)));
    },
  };
}

async function existingFile(path: string): Promise<string> {
  const file = path.startsWith("~/") ? join(homedir(), path.slice(2)) : resolve(path);
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() && file.endsWith(".gguf")) return file;
  const problem = found?.isFile() ? `${file} is no .gguf file.` : `There is no file ${file}.`;
  const message = `${problem} Write local/PATH.gguf, with a path that is relative to this folder or begins with / or ~/.`;
  throw new ModelChoiceError("unknown-model", message);
}

async function loadFile(library: LlamaLibrary, file: string, size: number | undefined): Promise<LoadedFile> {
  const logLevel = library.LlamaLogLevel.disabled;
  const llama = await library.getLlama({ build: "never", skipDownload: true, progressLogs: false, logLevel });
  const model = await llama.loadModel({ modelPath: file });
  const context = await model.createContext({
    sequences: 1,
    // One core stays free for this program. Threads wait for each other, so a busy core would slow down all.
    threads: Math.max(1, availableParallelism() - 1),
    // Without a size: as in the file, or less if memory is short.
    ...(size === undefined ? {} : { contextSize: { max: size } }),
  });
  const chat = new library.LlamaChat({ contextSequence: context.getSequence() });
  return { llama, chat, tokenizer: model.tokenizer, contextSize: context.contextSize };
}

function cannotLoad(id: string, file: string, cause: unknown): ModelError {
  const advice = "check that the file is a model in GGUF format that fits into memory, or set a smaller contextSize";
  const said = { fact: `${id} cannot load ${file}`, advice, words: errorMessage(cause) };
  return new ModelError("provider", said, { cause, retryable: false });
}

function refuseForcedCall({ toolChoice }: ModelRequest, id: string): void {
  if (toolChoice === "auto" || toolChoice === "none") return;
  const fact = `${id} cannot be forced to call a tool`;
  throw new ModelError("invalid-request", { fact, advice: "use another model, or leave out toolChoice" });
}

async function respond(
  { llama, chat, tokenizer, contextSize }: LoadedFile,
  request: ModelRequest,
  id: string,
  sink: ModelSink,
  signal: AbortSignal,
): Promise<void> {
  const { settings, tools, toolChoice } = request;
  const history = llamaHistory(request);
  const functions = toolChoice === "none" ? undefined : llamaFunctions(tools);
  const prompt = { chatHistory: history, availableFunctions: functions, documentFunctionParams: true } as const;
  const { length: input } = chat.chatWrapper.generateContextState(prompt).contextText.tokenize(tokenizer);
  // The library would drop the beginning of the conversation.
  if (input >= contextSize - 1) throw tooLong(id, input, contextSize);
  // The library takes a grammar only without functions.
  const form = request.output === undefined || functions ? undefined : legalOutput(request.output, RULES);
  const grammar = form && (await llama.createGrammarForJsonSchema(grammarSchema(form)));
  const { tokenMeter } = chat.sequence;
  const before = tokenMeter.getState();
  let calls = 0;
  const { metadata } = await chat.generateResponse(history, {
    signal,
    maxTokens: Math.min(settings.maxTokens ?? contextSize, contextSize - input - 1),
    temperature: settings.temperature,
    topP: settings.topP,
    seed: settings.seed,
    customStopTriggers: settings.stop,
    budgets: settings.effort === "none" ? { thoughtTokens: 0 } : undefined,
    functions,
    grammar,
    documentFunctionParams: functions && true,
    // A model writes more slowly than any sink reads, so nothing waits for the sink.
    onResponseChunk: ({ type, text }) => {
      if (text !== "") sink.push([{ type: type === "segment" ? "reasoning" : "text", text }]);
    },
    onFunctionCallParamsChunk:
      functions &&
      ((chunk) => {
        const isNew = chunk.callIndex === calls;
        if (isNew) calls++;
        sink.push(callParts(chunk, isNew));
      }),
  });
  const { usedInputTokens, usedOutputTokens: output } = tokenMeter.diff(before);
  const cached = Math.max(0, input - usedInputTokens);
  const reason = calls > 0 ? "calls" : metadata.stopReason === "maxTokens" ? "length" : "stop";
  sink.push([{ type: "finish", reason, usage: { input, cached, cacheWrite: 0, output, reasoning: 0 } }]);
}

function callParts({ callIndex: index, functionName, paramsChunk, done }: LlamaCallChunk, isNew: boolean): ModelPart[] {
  return [
    ...(isNew ? [{ type: "call", index, id: "", tool: functionName } as const] : []),
    ...(paramsChunk === "" ? [] : [{ type: "call-input", index, text: paramsChunk } as const]),
    ...(done ? [{ type: "call-end", index } as const] : []),
  ];
}

function tooLong(id: string, input: number, size: number): ModelError {
  const fact = `the request has ${input} tokens, and the context of ${id} has ${size}`;
  const advice =
    "make the request shorter, or set a larger contextSize for this model if the file and the memory allow it";
  return new ModelError("context-overflow", { fact, advice });
}
