import { checkBroughtFile } from "../brought-file.ts";
import { DirectiveError, malformedMessage, readUserContent } from "../checked/user-content.ts";
import type { FilePart } from "../part.ts";
import { isJsonRecord, isJsonValue, type JsonRecord, shownKind } from "../shape-problem.ts";
import type { HistoryResult } from "./history-message.ts";

/** Reads a result: a text, a list of parts, the AI SDK's `{ type, value }`, or other JSON. */
export function readResult(given: unknown, at: string, failed = false): HistoryResult {
  const status = failed ? "failed" : "completed";
  if (Array.isArray(given) && given.length > 0 && given.every(isPart)) return readParts(given, at, status);
  if (isJsonRecord(given) && typeof given.type === "string") {
    const { type, value, reason } = given;
    if (type === "execution-denied")
      return {
        status: "denied",
        output: typeof reason === "string" ? reason : "The user denied this call.",
        files: [],
      };
    if (type === "content" && Array.isArray(value)) return readParts(value, `${at}.value`, status);
    const outcome = /^(error-)?(?:text|json)$/.exec(type);
    if (outcome && value !== undefined)
      return plainResult(value, `${at}.value`, failed || outcome[1] !== undefined ? "failed" : status);
  }
  return plainResult(given, at, status);
}

/** Reads the output of a tool of the AI SDK. An object belongs to the tool, whatever its fields. */
export function readUiResult(given: unknown, at: string): HistoryResult {
  return isJsonRecord(given) ? plainResult(given, at, "completed") : readResult(given, at);
}

function plainResult(given: unknown, at: string, status: HistoryResult["status"]): HistoryResult {
  return { status, output: typeof given === "string" ? given : jsonAt(given, at), files: [] };
}

export function jsonAt(value: unknown, at: string): string {
  if (isJsonValue(value)) return JSON.stringify(value);
  const isInside = typeof value === "object" && value !== null;
  throw malformedMessage(
    isInside
      ? `${at} has a value that JSON cannot represent, or more than 100 levels`
      : `${at} must be JSON, not ${shownKind(value)}`,
  );
}

/** A tool's own list may have such types too, such as entries of a folder, but without content. */
const CONTENT = ["text", "data", "url", "image_url", "source", "file", "file_data", "file_url"];

const PART =
  /^(?:text|input_text|output_text|image|image_url|input_image|input_file|document|file|media|(?:image|file)-(?:data|url))$/;

function isPart(part: unknown): part is JsonRecord {
  if (!isJsonRecord(part) || typeof part.type !== "string" || !PART.test(part.type)) return false;
  return CONTENT.some((name) => part[name] !== undefined);
}

function readParts(parts: readonly unknown[], at: string, status: HistoryResult["status"]): HistoryResult {
  const texts: string[] = [];
  const files: FilePart[] = [];
  for (const [index, part] of parts.entries()) {
    const place = `${at}[${index}]`;
    if (!isPart(part)) throw malformedMessage(`${place} must be a text or a file of a result`);
    if (typeof part.text === "string") texts.push(part.text);
    else for (const file of atPlace(place, () => readFile(part))) addFile(file, place, texts, files);
  }
  return { status, output: texts.join("\n"), files };
}

function readFile(given: JsonRecord): readonly FilePart[] {
  const part = withoutHints(given);
  const { type, data, url, mediaType, filename } = part;
  const named = { type: "file", mediaType: mediaType ?? "image/*", ...(filename !== undefined && { filename }) };
  const isOfAiSdk = /^(?:media|(?:image|file)-(?:data|url))$/.test(String(type));
  const read = readUserContent([
    (isOfAiSdk ? { ...named, ...(url === undefined ? { data } : { url }) } : part) as never,
  ]);
  return (read ?? []).filter((each) => each.type === "file");
}

/** A result cannot hold the address of a file, so the model gets the address as text. */
function addFile(file: FilePart, at: string, texts: string[], files: FilePart[]): void {
  if (file.data === undefined) {
    texts.push(`${file.name ?? file.mediaType}: ${file.url}`);
    return;
  }
  const checked = checkBroughtFile(file, 0);
  if (typeof checked === "string") throw malformedMessage(`${at} is a file that a result cannot hold: ${checked}`);
  files.push(checked);
}

/** Removes hints to a provider. They change neither the words nor their meaning. */
export function withoutHints({ cache_control, providerOptions, providerMetadata, ...part }: JsonRecord): JsonRecord {
  return part;
}

/** Runs a check of one part. If the check throws, adds the place of the part to the error's message. */
export function atPlace<Result>(at: string, check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    throw error instanceof DirectiveError ? placedError(at, error) : error;
  }
}

function placedError(at: string, cause: DirectiveError): DirectiveError {
  return new DirectiveError(cause.code, `${at}: ${cause.message}`, { cause });
}
