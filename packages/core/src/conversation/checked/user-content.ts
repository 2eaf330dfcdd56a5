import { mediaIn } from "../brought-file.ts";
import { didYouMean } from "../option-names.ts";
import type { FilePart, ProviderData, UserPart } from "../part.ts";
import {
  isBase64,
  isJsonRecord,
  isJsonValue,
  isMediaType,
  isWebAddress,
  LONGEST_NAME,
  providerProblem,
  shownKind,
} from "../shape-problem.ts";

/**
 * Error of an invalid directive or message. The error's text names the wrong field and a remedy.
 * @example agent.send(" ").catch((error) => error instanceof DirectiveError && console.log(error.code));
 */
export class DirectiveError extends Error {
  override readonly name = "DirectiveError";
  readonly code:
    | "unknown"
    | "empty"
    | "malformed"
    | "nothing-to-retry"
    | "nothing-to-resume"
    | "unknown-message"
    | "unusable-file"
    | "refused";

  constructor(code: DirectiveError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

type Bytes = Uint8Array | ArrayBuffer;

/** A text or a file in the format of another library. See {@link readUserContent}. */
export type PlainPart =
  /** The AI SDK. A string is base 64, a `data:` URL, or an http URL. */
  | { readonly type: "image"; readonly image: string | Bytes | URL; readonly mediaType?: string | undefined }
  | {
      readonly type: "file";
      readonly data: string | Bytes | URL | { readonly type: string; readonly [name: string]: unknown };
      readonly mediaType: string;
      readonly filename?: string | undefined;
    }
  | {
      readonly type: "file";
      readonly url: string | URL;
      readonly mediaType: string;
      readonly filename?: string | undefined;
    }
  | { readonly type: "input_text"; readonly text: string }
  | {
      readonly type: "input_file";
      readonly file_data?: string | undefined;
      readonly file_url?: string | undefined;
      readonly filename?: string | undefined;
    }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }
  | { readonly type: "input_image"; readonly image_url: string }
  | { readonly type: "file"; readonly file: { readonly file_data: string; readonly filename?: string | undefined } }
  | {
      readonly type: "image" | "document";
      readonly source: { readonly type: string; readonly [name: string]: unknown };
    };

/**
 * A whole user message of another library: `{ role, content }`, or `{ role, parts }` of the AI SDK's `useChat`. Its
 * parts are checked only when the message is used. See {@link readUserContent}.
 */
export interface PlainMessage {
  readonly role: string;
  readonly content?: string | readonly object[] | undefined;
  readonly parts?: readonly object[] | undefined;
}

/** The content of a user message: a text, parts, or a message of another library. See {@link readUserContent}. */
export type UserContent = string | readonly (UserPart | PlainPart)[] | PlainMessage;

/**
 * Returns the parts of a user message, with bytes in base 64. Returns nothing if the content has neither text nor a
 * file. Throws `DirectiveError` (`malformed`) for any other shape, with the name of the wrong field.
 * @example readUserContent("Hello") // [{ type: "text", text: "Hello" }]
 */
export function readUserContent(content: UserContent): readonly UserPart[] | undefined {
  if (typeof content === "string") return content.trim() === "" ? undefined : [{ type: "text", text: content }];
  const parts = Array.isArray(content) ? readParts(content, "parts") : readPlainMessage(content);
  return parts.some((part) => part.type === "file" || part.text.trim() !== "") ? parts : undefined;
}

function readPlainMessage(message: unknown): readonly UserPart[] {
  if (!isJsonRecord(message))
    throw malformedMessage(
      `A message must be a string, an array of parts, or { role: "user", content }, not ${shownKind(message)}`,
    );
  const { role, content, parts, id: _, type, ...rest } = message;
  if (role === undefined)
    throw malformedMessage(
      'A message must be a string, an array of parts, or { role: "user", content }; put one part into an array',
    );
  if (role !== "user")
    throw malformedMessage(
      `role must be "user", not ${shownValue(role)}; the session keeps the other messages, so pass only the new message`,
    );
  if (type !== undefined && type !== "message")
    throw malformedMessage(`type must be "message", not ${shownValue(type)}`);
  refuseRest(rest, "", ["role", "content", "parts"]);
  if (content !== undefined && parts !== undefined)
    throw malformedMessage("content and parts are both set; pass only one of the two");
  const given = content ?? parts;
  if (typeof given === "string" && parts === undefined) return [{ type: "text", text: given }];
  const name = content === undefined && parts !== undefined ? "parts" : "content";
  if (Array.isArray(given)) return readParts(given, name);
  throw malformedMessage(
    `${name} must be ${name === "parts" ? "" : "a string or "}an array of parts, not ${shownKind(given)}`,
  );
}

function readParts(given: readonly unknown[], name: string): readonly UserPart[] {
  // A loop, because `map()` would skip holes. The length, because an array that grows has room for 17 parts.
  const parts = new Array<UserPart>(given.length);
  for (let index = 0; index < given.length; index++) {
    const part = given[index];
    parts[index] = isPlainText(part) ? { type: "text", text: part.text } : readPart(part, `${name}[${index}]`);
  }
  return parts;
}

/** Nearly all parts are plain texts. */
function isPlainText(part: unknown): part is { readonly text: string } {
  if (!isJsonRecord(part) || part.type !== "text" || typeof part.text !== "string") return false;
  for (const name in part) if (name !== "type" && name !== "text") return false;
  return true;
}

const TYPES = ["text", "file"];
/** The default media type of a document. */
const PDF = "application/pdf";

function readPart(part: unknown, at: string): UserPart {
  if (!isJsonRecord(part)) throw malformedMessage(`${at} must be a part with a type, not ${shownKind(part)}`);
  const { type, ...fields } = part;
  switch (type) {
    case "text":
    case "input_text": {
      const { text, state, provider, ...rest } = fields;
      // The AI SDK marks complete texts as "done"; only complete texts are accepted.
      if (state !== undefined && state !== "done")
        throw malformedMessage(`${at}.state must be "done", not ${shownValue(state)}`);
      refuseRest(rest, `${at}.`, ["text", "provider"]);
      const problem = provider === undefined ? undefined : providerProblem(provider, at);
      if (problem !== undefined) throw malformedMessage(problem);
      if (provider !== undefined && !isJsonValue(provider))
        throw malformedMessage(`${at}.provider has a value that JSON cannot represent`);
      const said = { type: "text", text: stringAt(text, `${at}.text`) } as const;
      return provider === undefined ? said : { ...said, provider: provider as ProviderData };
    }
    case "file":
      return fields.file === undefined ? readFilePart(fields, at) : readOpenAiFile(fields, at);
    case "image": {
      if (fields.source !== undefined) return readSource(fields, at, "image/*");
      const { image, mediaType, ...rest } = fields;
      refuseRest(rest, `${at}.`, ["image", "mediaType"]);
      return makeFilePart(
        { mediaType: mediaAt(mediaType ?? "image/*", `${at}.mediaType`) },
        readData(image, `${at}.image`),
      );
    }
    case "image_url":
    case "input_image": {
      const { image_url: given, detail, ...rest } = fields;
      refuseRest(rest, `${at}.`, ["image_url"]);
      const { url, detail: inner, ...more } = isJsonRecord(given) ? given : { url: given };
      const path = isJsonRecord(given) ? `${at}.image_url.` : `${at}.`;
      refuseRest(more, path, ["url"]);
      const wanted = detail ?? inner ?? "auto";
      if (wanted !== "auto")
        throw malformedMessage(`${path}detail must be "auto", not ${shownValue(wanted)}; leave it out`);
      const place = isJsonRecord(given) ? `${path}url` : `${at}.image_url`;
      return makeFilePart({ mediaType: "image/*" }, readFileAddress(url, place));
    }
    case "input_file": {
      const { file_url: url, ...file } = fields;
      return url === undefined ? readOpenAiFile({ file }, at) : readFilePart({ ...file, url, mediaType: PDF }, at);
    }
    case "document":
      return readSource(fields, at, PDF);
    case undefined:
      if ("role" in part)
        throw malformedMessage(`${at} is a message, not a part; pass one message, or the parts of one`);
  }
  const near = typeof type === "string" ? didYouMean(type, TYPES) : undefined;
  const advice = near ?? 'a user message holds parts of type "text" and "file"';
  throw malformedMessage(`${at}.type is ${shownValue(type)}; ${advice}`);
}

type Source = Pick<FilePart, "data" | "url"> & {
  /** The media type that a `data:` URL names. */
  readonly says?: string | undefined;
};

function readFilePart(fields: Readonly<Record<string, unknown>>, at: string): FilePart {
  const { mediaType, name, filename, data, url, ...rest } = fields;
  refuseRest(rest, `${at}.`, ["mediaType", "name", "data", "url"]);
  if (name !== undefined && filename !== undefined)
    throw malformedMessage(`${at}.name and ${at}.filename are both set; pass only one of the two`);
  if (data !== undefined && url !== undefined)
    throw malformedMessage(`${at}.data and ${at}.url are both set; pass only one of the two`);
  if (data === undefined && url === undefined)
    throw malformedMessage(`${at} has neither data nor url; pass its bytes as data, or its address as url`);
  const called = name === undefined ? nameAt(filename, `${at}.filename`) : nameAt(name, `${at}.name`);
  const media = mediaAt(mediaType, `${at}.mediaType`);
  const source = data === undefined ? readFileAddress(url, `${at}.url`) : readData(data, `${at}.data`);
  return makeFilePart({ mediaType: media, ...called }, source);
}

function readOpenAiFile(fields: Readonly<Record<string, unknown>>, at: string): FilePart {
  const { file, ...others } = fields;
  refuseRest(others, `${at}.`, ["file"]);
  if (!isJsonRecord(file)) throw malformedMessage(`${at}.file must be an object, not ${shownKind(file)}`);
  const { file_data: data, filename, ...rest } = file;
  refuseRest(rest, `${at}.file.`, ["file_data", "filename"]);
  const source = readData(data, `${at}.file.file_data`);
  const called = nameAt(filename, `${at}.file.filename`);
  const part = makeFilePart({ mediaType: "application/*", ...called }, source);
  if (part.mediaType !== "application/*") return part;
  throw malformedMessage(`${at}.file.file_data has no media type; write it as data:application/pdf;base64,... instead`);
}

function readSource(fields: Readonly<Record<string, unknown>>, at: string, otherwise: string): FilePart {
  const { source, title, ...others } = fields;
  refuseRest(others, `${at}.`, ["source"]);
  if (!isJsonRecord(source)) throw malformedMessage(`${at}.source must be an object, not ${shownKind(source)}`);
  const { type, media_type: media, data, url, ...rest } = source;
  refuseRest(rest, `${at}.source.`, ["type", "media_type", "data", "url"]);
  if (type === "text") {
    const text = textData(data, `${at}.source.data`);
    return makeFilePart({ mediaType: "text/plain", ...nameAt(title ?? undefined, `${at}.title`) }, text);
  }
  if (type !== "base64" && type !== "url")
    throw malformedMessage(`${at}.source.type must be "base64", "text" or "url", not ${shownValue(type)}`);
  const mediaType = mediaAt(media ?? otherwise, `${at}.source.media_type`);
  const read = type === "url" ? readFileAddress(url, `${at}.source.url`) : readData(data, `${at}.source.data`);
  return makeFilePart({ mediaType, ...nameAt(title ?? undefined, `${at}.title`) }, read);
}

/** Bytes: base 64, a `data:` URL, an http URL, binary data, or the AI SDK's `{ type: "data" | "url", ... }`. */
function readData(data: unknown, at: string): Source {
  if (data instanceof URL) return readFileAddress(data, at);
  const bytes = asBytes(data);
  if (bytes) {
    if (bytes.length === 0) throw malformedMessage(`${at} is empty; leave the file out`);
    return { data: encodeBase64(bytes), says: mediaIn(bytes)?.mediaType };
  }
  if (typeof data === "string") {
    if (/^(?:data|https?):/i.test(data.slice(0, 8))) return readFileAddress(data, at);
    if (isBase64(data)) return { data, says: mediaIn(decodeFirstBytes(data))?.mediaType };
    throw malformedMessage(
      data === ""
        ? `${at} is empty; leave the file out`
        : `${at} must be base 64 without line breaks; pass the bytes as a Buffer or a Uint8Array to have them encoded`,
    );
  }
  if (isJsonRecord(data)) {
    const { type, data: inner, url, ...rest } = data;
    if (type === "Buffer")
      throw malformedMessage(`${at} is a Buffer written as JSON; pass the Buffer itself, or base 64`);
    if (type === "text") return textData(rest.text, `${at}.text`);
    if (type === "data" || type === "url") {
      refuseRest(rest, `${at}.`, ["type", type]);
      return type === "data" ? readData(inner, `${at}.data`) : readFileAddress(url, `${at}.url`);
    }
  }
  throw malformedMessage(`${at} must be base 64, bytes or an address, not ${shownKind(data)}`);
}

function textData(text: unknown, at: string): Source {
  return { data: encodeBase64(new TextEncoder().encode(stringAt(text, at))), says: "text/plain" };
}

function readFileAddress(given: unknown, at: string): Source {
  const url = given instanceof URL ? given.href : stringAt(given, at);
  if (!/^data:/i.test(url.slice(0, 5))) {
    if (isWebAddress(url)) return { url };
    throw malformedMessage(
      `${at} must be an address of http or https, or a data: URL with base 64; pass a local file as data`,
    );
  }
  const comma = url.slice(0, 500).indexOf(",");
  const [media = "", ...words] = url.slice(5, Math.max(5, comma)).split(";");
  if (comma < 0 || words.at(-1)?.trim().toLowerCase() !== "base64")
    throw malformedMessage(
      `${at} is a data: URL that is not in base 64; write it as data:image/png;base64,... instead`,
    );
  const data = url.slice(comma + 1);
  if (!isBase64(data)) throw malformedMessage(`${at} is a data: URL whose data is not base 64`);
  if (media === "") return { data, says: mediaIn(decodeFirstBytes(data))?.mediaType };
  if (!isMediaType(media)) throw malformedMessage(`${at} is a data: URL with the media type ${shownValue(media)}`);
  return { data, says: media };
}

/** Builds the part. A media type such as `image/*` is replaced by the type that the source names. */
function makeFilePart(about: Pick<FilePart, "mediaType" | "name">, { data, url, says }: Source): FilePart {
  const mediaType = says !== undefined && about.mediaType.endsWith("/*") ? says : about.mediaType;
  const part: FilePart = { type: "file", ...about, mediaType };
  return data === undefined ? { ...part, url } : { ...part, data };
}

function stringAt(value: unknown, at: string): string {
  if (typeof value === "string") return value;
  throw malformedMessage(`${at} must be a string, not ${shownKind(value)}`);
}

function nameAt(value: unknown, at: string): { readonly name?: string } {
  if (value === undefined) return {};
  const name = stringAt(value, at);
  if (name.length <= LONGEST_NAME || Array.from(name).length <= LONGEST_NAME) return { name };
  throw malformedMessage(`${at} must have at most ${LONGEST_NAME.toLocaleString("en")} characters`);
}

function mediaAt(value: unknown, at: string): string {
  const media = stringAt(value, at);
  if (isMediaType(media)) return media;
  // The AI SDK accepts a top-level type for any subtype.
  if (/^(?:image|audio|video|text|application)$/.test(media)) return `${media}/*`;
  throw malformedMessage(`${at} must have the form type/subtype, such as image/png, not ${shownValue(media)}`);
}

/** Rejects fields that the message would lose. */
function refuseRest(rest: Readonly<Record<string, unknown>>, at: string, known: readonly string[]): void {
  for (const [name, value] of Object.entries(rest)) {
    if (value === undefined) continue;
    const isForProvider = name === "providerOptions" || name === "providerMetadata";
    const advice = isForProvider
      ? "leave it out, or set providerOptions in the agent's settings"
      : (didYouMean(name, known, at) ?? "the session would lose this field, so leave it out");
    throw malformedMessage(`${at}${name} is not a field of a user message; ${advice}`);
  }
}

/** Returns the sentence, and adds a full stop if it has none. */
export function malformedMessage(sentence: string): DirectiveError {
  return new DirectiveError("malformed", /[.?]$/.test(sentence) ? sentence : `${sentence}.`);
}

/** Describes a value for an error message. A text is quoted and cut. */
export function shownValue(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : shownKind(value);
}

function asBytes(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
}

function decodeFirstBytes(base64: string): Uint8Array {
  return decodeBase64(base64.slice(0, 32));
}

/** Returns the bytes of a valid text in base 64. */
export function decodeBase64(base64: string): Uint8Array {
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = characters.charCodeAt(index);
  return bytes;
}

/** Bytes per piece: a multiple of 3, so that the pieces join, and few enough for the arguments of a call. */
const PIECE = 3 * 8192;

function encodeBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
  return text;
}
