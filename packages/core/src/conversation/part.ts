/** Any JSON value. See {@link defineTool}. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * Data that later requests must return to the provider with a part, such as a reasoning signature or an item id. The
 * key is the provider's name. Only the driver of that provider reads the data. See {@link ModelSettings}.
 */
export type ProviderData = Readonly<Record<string, Readonly<Record<string, Json>>>>;

/** A text, usually in Markdown. See {@link readUserContent}. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly provider?: ProviderData;
}

/** Reasoning of a model before a text or a call, as far as its provider shows it. See {@link promptFrom}. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly provider?: ProviderData;
}

/**
 * Marks the position of a call among the parts of its message. The message's `calls` contains the call itself. See
 * {@link textOf}.
 */
export interface CallPart {
  readonly type: "call";
  readonly call: string;
  readonly provider?: ProviderData;
}

/** A file in a message: its bytes in base 64, or its address. See {@link aiSdkFile}. */
export interface FilePart {
  readonly type: "file";
  /** Such as `image/png`. */
  readonly mediaType: string;
  readonly name?: string | undefined;
  /** The bytes in base 64, without a `data:` prefix. */
  readonly data?: string | undefined;
  /** Address for the provider, if `data` is absent. */
  readonly url?: string | undefined;
}

/** A file in the result of a call: an image, a document, or sound. See {@link callIn}. */
export interface BroughtFile extends FilePart {
  /** Digest of the bytes in base 64, as in the log. */
  readonly digest: string;
}

/** A source that the provider cites. See {@link textOf}. */
export interface SourcePart {
  readonly type: "source";
  readonly url: string;
  readonly title?: string;
}

/**
 * A tool call that the provider ran itself, or the result of such a call. Later requests send both back unchanged.
 * See {@link promptFrom}.
 */
export interface ProviderPart {
  readonly type: "provider";
  /** A short description for users. */
  readonly text: string;
  /** Data for the driver of this provider, under the provider's name. */
  readonly provider: ProviderData;
}

/** A part of an assistant message. See {@link textOf}. */
export type Part = TextPart | ReasoningPart | CallPart | FilePart | SourcePart | ProviderPart;

/** A part of a user message. See {@link readUserContent}. */
export type UserPart = TextPart | FilePart;
