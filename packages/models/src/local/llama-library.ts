// The used part of the interface of node-llama-cpp, an optional peer: its types are not installed.

export interface LlamaLibrary {
  getLlama(options: {
    readonly build: "never";
    readonly skipDownload: true;
    readonly progressLogs: false;
    readonly logLevel: string;
  }): Promise<Llama>;
  readonly LlamaLogLevel: { readonly disabled: string };
  readonly LlamaChat: new (options: { readonly contextSequence: LlamaSequence }) => LlamaChat;
}

export interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<LlamaModel>;
  createGrammarForJsonSchema(schema: Readonly<Record<string, unknown>>): Promise<LlamaGrammar>;
}

/** The form of a text that a model writes. */
export type LlamaGrammar = object;

export interface LlamaModel {
  readonly tokenizer: unknown;
  createContext(options: {
    readonly sequences: 1;
    readonly threads: number;
    readonly contextSize?: { readonly max: number };
  }): Promise<{ readonly contextSize: number; getSequence(): LlamaSequence }>;
}

interface LlamaSequence {
  readonly tokenMeter: {
    getState(): object;
    diff(earlier: object): { readonly usedInputTokens: number; readonly usedOutputTokens: number };
  };
}

export interface LlamaChat {
  readonly sequence: LlamaSequence;
  readonly chatWrapper: {
    generateContextState(options: {
      readonly chatHistory: readonly LlamaMessage[];
      readonly availableFunctions: LlamaFunctions | undefined;
      readonly documentFunctionParams: true;
    }): { readonly contextText: { tokenize(tokenizer: unknown): { readonly length: number } } };
  };
  /** Rejects with the reason of `signal`. */
  generateResponse(
    history: readonly LlamaMessage[],
    options: {
      readonly signal: AbortSignal;
      readonly maxTokens: number;
      readonly temperature: number | undefined;
      readonly topP: number | undefined;
      readonly seed: number | undefined;
      readonly customStopTriggers: readonly string[] | undefined;
      readonly budgets: { readonly thoughtTokens: 0 } | undefined;
      readonly functions: LlamaFunctions | undefined;
      /** Only without functions. */
      readonly grammar: LlamaGrammar | undefined;
      readonly documentFunctionParams: true | undefined;
      onResponseChunk(chunk: { readonly type: "segment" | undefined; readonly text: string }): void;
      readonly onFunctionCallParamsChunk: ((chunk: LlamaCallChunk) => void) | undefined;
    },
  ): Promise<{ readonly metadata: { readonly stopReason: string } }>;
}

/** A piece of the arguments of a call. `done` ends the call. */
export interface LlamaCallChunk {
  readonly callIndex: number;
  readonly functionName: string;
  readonly paramsChunk: string;
  readonly done: boolean;
}

export type LlamaFunctions = Readonly<
  Record<string, { readonly description: string; readonly params: Readonly<Record<string, unknown>> }>
>;

export type LlamaMessage =
  | { readonly type: "system" | "user"; readonly text: string }
  | { readonly type: "model"; readonly response: LlamaResponsePart[] };

export type LlamaResponsePart =
  | string
  | {
      readonly type: "functionCall";
      readonly name: string;
      readonly params: unknown;
      readonly result: string;
      /** True for the first of several calls that the model made at once. */
      readonly startsNewChunk: boolean;
    };
