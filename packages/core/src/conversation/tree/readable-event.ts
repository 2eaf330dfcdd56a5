import type { Event, MessageAdded } from "../event.ts";
import { providerProblem, shownKind } from "../shape-problem.ts";

/**
 * Returns an event that every part of the program can read (F77). If a part of a message is malformed, the message gets
 * `parts: []` and the reason. Calls keep all readable fields. Other events are returned unchanged. Never throws.
 * @example for await (const item of agent.chat(say("Hello"))) if (isEvent(item)) console.log(readableEvent(item).type);
 */
export function readableEvent<Item extends Event>(event: Item): Item {
  switch (event.type) {
    case "message.added":
    case "input.queued":
    case "input.edited":
    case "message.completed": {
      if (event.type === "input.edited" && event.parts === undefined) return event;
      const isSaid = event.type !== "message.completed";
      const problem = problemOfParts(event.parts, isSaid ? saidProblem : writtenProblem);
      if (problem !== undefined) return { ...event, parts: [], unreadable: `${problem}.` };
      return event.type === "message.added" && event.role === "summary" ? (withoutOddFields(event) as Item) : event;
    }
    case "message.checkpoint": {
      const problem = problemOfParts(event.parts, checkpointProblem);
      return problem === undefined ? event : { ...event, parts: [] };
    }
    case "memory.recalled": {
      const items: unknown = event.items;
      const kept = Array.isArray(items) ? items.filter(isRecalled) : [];
      return kept.length === event.items?.length ? event : { ...event, items: kept };
    }
    case "call.pending": {
      const { tool, inputText } = event;
      const isWhole = typeof tool === "string" && typeof inputText === "string";
      return isWhole ? event : { ...event, tool: String(tool), inputText: String(inputText) };
    }
    case "call.completed":
    case "call.failed":
    case "call.denied":
    case "call.cancelled": {
      const isWhole = event.files === undefined || (Array.isArray(event.files) && event.files.every(isStoredFile));
      const { files, modelOutput, ...ended } = event;
      const isText = modelOutput === undefined || typeof modelOutput === "string";
      if (isWhole && isText && typeof event.output === "string") return event;
      const forModel = modelOutput === undefined ? {} : { modelOutput: String(modelOutput) };
      return { ...ended, ...forModel, output: String(event.output), ...(isWhole && files && { files }) } as Item;
    }
    default:
      return event;
  }
}

function isStoredFile(file: unknown): boolean {
  const { mediaType, digest } = (typeof file === "object" && file !== null ? file : {}) as EventFields;
  return typeof mediaType === "string" && typeof digest === "string";
}

type EventFields = Readonly<Record<string, unknown>>;

/** Returns a fault as the rest of a sentence. Creates no text for a readable part: every event is checked. */
type PartCheck = (part: EventFields) => string | undefined;

function problemOfParts(parts: unknown, problemOf: PartCheck): string | undefined {
  if (!Array.isArray(parts)) return `parts must be an array, not ${shownKind(parts)}`;
  for (let index = 0; index < parts.length; index++) {
    const part: unknown = parts[index];
    const isPart = typeof part === "object" && part !== null;
    const problem = isPart ? problemOf(part as EventFields) : ` must be a part, not ${shownKind(part)}`;
    if (problem !== undefined) return `parts[${index}]${problem}`;
  }
  return undefined;
}

/** Newer versions may add fields to a part, but no types: half of a user's message may mislead a model. */
function saidProblem(part: EventFields): string | undefined {
  if (part.type === "text") return textPartProblem(part);
  if (part.type === "file") return filePartProblem(part);
  return ` has the type ${JSON.stringify(part.type)?.slice(0, 100)}, which this version does not know`;
}

/** Unknown types are skipped: the rest of a response can be read without them. */
function writtenProblem(part: EventFields): string | undefined {
  switch (part.type) {
    case "file":
      return fileFieldProblem(part);
    case "call":
      return notString(part, "call") ?? providerIn(part);
    case "source":
      return notString(part, "url");
    case "provider":
      return notString(part, "text") ?? providerProblem(part.provider, "");
    default:
      if (typeof part.type !== "string") return notString(part, "type");
      return part.type === "text" || part.type === "reasoning" || "text" in part ? textPartProblem(part) : undefined;
  }
}

function checkpointProblem(part: EventFields): string | undefined {
  if (!Number.isInteger(part.index)) return `.index must be a whole number, not ${shownKind(part.index)}`;
  return notString(part, "text");
}

function textPartProblem(part: EventFields): string | undefined {
  return notString(part, "text") ?? providerIn(part);
}

function providerIn(part: EventFields): string | undefined {
  return part.provider === undefined ? undefined : providerProblem(part.provider, "");
}

/** Files whose bytes were checked before: the same part is read when written, shown and reduced. */
const intact = new WeakSet<EventFields>();

function filePartProblem(part: EventFields): string | undefined {
  if (intact.has(part)) return undefined;
  const problem = fileFieldProblem(part);
  if (problem !== undefined) return problem;
  const { data, url } = part;
  if (data === undefined && url === undefined) return ` has neither data nor url`;
  // Providers also accept line breaks and the URL-safe alphabet.
  if (typeof data === "string" && (data === "" || /[^A-Za-z0-9+/=_\-\s]/.test(data))) return `.data is not base 64`;
  if (data === undefined && !URL.canParse(String(url))) return `.url is not an address`;
  intact.add(part);
  return undefined;
}

function fileFieldProblem(part: EventFields): string | undefined {
  const optional = ["name", "data", "url"].filter((name) => part[name] !== undefined);
  for (const name of ["mediaType", ...optional]) {
    const problem = notString(part, name);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function notString(part: EventFields, name: string): string | undefined {
  const value = part[name];
  return typeof value === "string" ? undefined : `.${name} must be a string, not ${shownKind(value)}`;
}

/** The text of a summary is useful without its optional fields. */
function withoutOddFields(summary: MessageAdded): MessageAdded {
  const { kept, leftOut, state, note, compaction, shortened, ...rest } = summary;
  const isKept = kept === undefined || (Array.isArray(kept) && kept.every(isKeptMessage));
  const isCount = leftOut === undefined || isNatural(leftOut);
  const isText = state === undefined || typeof state === "string";
  const isSizes = compaction === undefined || isCompaction(compaction);
  const isNote = note === undefined || typeof note === "string";
  const isShortened = shortened === undefined || (Array.isArray(shortened) && shortened.every(isShortenedResult));
  if (isKept && isCount && isText && isNote && isSizes && isShortened) return summary;
  return {
    ...rest,
    // Without this field the message would cover all messages above.
    ...(shortened !== undefined && { shortened: isShortened ? shortened : [] }),
    ...(isKept && kept && { kept }),
    ...(isCount && leftOut !== undefined && { leftOut }),
    ...(isText && state !== undefined && { state }),
    ...(isNote && note !== undefined && { note }),
    ...(isSizes && compaction && { compaction }),
  };
}

function isKeptMessage(kept: unknown): boolean {
  const { message, characters } = (typeof kept === "object" && kept !== null ? kept : {}) as EventFields;
  return typeof message === "string" && (characters === undefined || isNatural(characters));
}

function isShortenedResult(result: unknown): boolean {
  const { call, message, text } = (typeof result === "object" && result !== null ? result : {}) as EventFields;
  return typeof (call ?? message) === "string" && typeof text === "string";
}

function isCompaction(compaction: unknown): boolean {
  const { messages, before, after, size } = (
    typeof compaction === "object" && compaction !== null ? compaction : {}
  ) as EventFields;
  return [messages, before, after].every(isNatural) && (size === undefined || isNatural(size));
}

function isNatural(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0;
}

function isRecalled(item: unknown): boolean {
  const { text, source } = (typeof item === "object" && item !== null ? item : {}) as EventFields;
  return typeof text === "string" && typeof source === "string";
}
