import type { Event } from "@banyan/core";
import { type Part, readableEvent } from "@banyan/core/conversation";
import { counted } from "@banyan/core/shown";
import { eventSchemas } from "@banyan/protocol";
import { z } from "zod";
import { parseJson } from "../settings/json-text.ts";

const FORMAT = "banyan-conversation";
const VERSION = 1;

/**
 * Exports a conversation's whole log as JSON (B56), one event per line, including events of newer versions. An
 * unreadable message has the reason instead of its parts. `fromJson` reads the result.
 * @example
 * const { events } = fromJson(await readFile("conversation.json", "utf8"));
 * await writeFile("copy.json", toJson(events));
 */
export function toJson(events: Iterable<Event>): string {
  const lines = Array.from(events, (event) => {
    const read = problemIn(event) === undefined ? event : readableEvent(event);
    return JSON.stringify(read).replace(
      ACTING,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  }).join(",\n");
  return `{\n"format": "${FORMAT}",\n"version": ${VERSION},\n"events": [\n${lines}\n]\n}\n`;
}

/** Characters that JSON leaves unescaped and a terminal obeys: control characters and direction marks (S12). */
const ACTING = /[\u{7f}-\u{9f}\u{202a}-\u{202e}\u{2066}-\u{2069}]/gu;

/** A conversation's log that was read from JSON. See {@link fromJson}. */
export interface ReadConversation {
  readonly id: string;
  /** The first is `conversation.created`. */
  readonly events: readonly Event[];
  /** A sentence that names events unknown to this version, if any. */
  readonly unknown?: string;
}

/**
 * Parses the output of `toJson`, also of newer versions. Throws `ExchangeError` with the line or event of a fault.
 * @example const { id, events } = fromJson(await readFile("conversation.json", "utf8"));
 */
export function fromJson(text: string): ReadConversation {
  const parsed = parseJson(text);
  if (!parsed.ok)
    throw new ExchangeError(
      `line ${parsed.at.line}, column ${parsed.at.column}: ${parsed.problem}; expected an exported conversation.`,
    );
  const fault = file.safeParse(parsed.value).error?.issues[0];
  if (fault) throw new ExchangeError(`${fault.path.join(".") || "the file"}: expected ${fault.message}.`);
  const { events } = parsed.value as { readonly events: readonly Event[] };
  const known = new Set<string | null>([null]);
  let seq = 0;
  for (const [index, event] of events.entries()) {
    const problem = problemIn(event) ?? disorderIn(event, seq, known);
    if (problem !== undefined) throw new ExchangeError(`event ${index + 1}${typeOf(event)}: ${problem}.`);
    seq = event.seq;
    if (event.type === "message.added" || event.type === "message.started") known.add(event.message);
  }
  const [first] = events;
  if (first?.type !== "conversation.created")
    throw new ExchangeError("event 1: expected conversation.created, the first event of every conversation.");
  const unknown = toldUnknown(events);
  return { id: first.id, events, ...(unknown !== undefined && { unknown }) };
}

const PARTS: Readonly<Record<Part["type"], true>> = {
  text: true,
  reasoning: true,
  call: true,
  file: true,
  source: true,
  provider: true,
};

/** A newer version may have added the type. */
function isUnknownPart(part: unknown): boolean {
  const type = typeof part === "object" && part !== null && "type" in part ? part.type : undefined;
  return typeof type === "string" && !Object.hasOwn(PARTS, type);
}

function unknownPartsOf(event: object): readonly { readonly type: string }[] {
  return "parts" in event && Array.isArray(event.parts) ? event.parts.filter(isUnknownPart) : [];
}

function toldUnknown(events: readonly Event[]): string | undefined {
  const names = events.flatMap((event) => [
    ...(ownTypes.has(event.type) ? [] : [event.type as string]),
    ...unknownPartsOf(event).map(({ type }) => `${event.type} with a part of type ${type}`),
  ]);
  if (names.length === 0) return undefined;
  const each = Array.from(
    Map.groupBy(names, (name) => name),
    ([name, { length }]) => `${name.slice(0, 100)} (${length})`,
  );
  return `This version of Banyan does not understand ${counted(names.length, "entry", "entries")} of the export, but keeps them: ${each.join(", ")}.`;
}

const file = z.looseObject(
  {
    format: z.literal(FORMAT, `"${FORMAT}"`),
    version: z.literal(VERSION, `${VERSION}; a newer version of banyan may be able to read this file`),
    events: z.array(z.unknown(), "a list of events").min(1, "at least one event"),
  },
  `an object with format "${FORMAT}"`,
);

const head = { seq: z.int().min(1), epoch: z.int().min(0) };
const anyEvent = z.looseObject({ ...head, type: z.string(), at: z.number() });
const schemas = eventSchemas(head);
const ownTypes = new Set<string>(schemas.map(({ shape }) => shape.type.value));
const ownEvent = z.discriminatedUnion("type", schemas);

function problemIn(event: unknown): string | undefined {
  const type = typeof event === "object" && event !== null && "type" in event ? event.type : undefined;
  const schema = typeof type === "string" && ownTypes.has(type) ? ownEvent : anyEvent;
  const issue = schema.safeParse(withoutUnknownParts(event)).error?.issues[0];
  return issue && `${issue.path.join(".") || "the event"}: ${issue.message}`;
}

function withoutUnknownParts(event: unknown): unknown {
  if (typeof event !== "object" || event === null || unknownPartsOf(event).length === 0) return event;
  return { ...event, parts: (event as { readonly parts: unknown[] }).parts.filter((part) => !isUnknownPart(part)) };
}

/** Returns the reason that an event cannot follow here. Without the check of parents, a path could be a cycle. */
function disorderIn(event: Event, seq: number, known: ReadonlySet<string | null>): string | undefined {
  if (event.seq <= seq) return `seq: expected more than ${seq}`;
  if (event.type === "conversation.created" && seq > 0) return "a conversation begins once";
  if (event.type !== "message.added" && event.type !== "message.started") return undefined;
  return known.has(event.parentId) ? undefined : `parentId: there is no message ${event.parentId} before it`;
}

function typeOf(event: unknown): string {
  const type = typeof event === "object" && event !== null && "type" in event ? event.type : undefined;
  return typeof type === "string" ? ` (${type.slice(0, 40)})` : "";
}

/**
 * The error of an invalid exported conversation. The message gives the place and the expected value.
 * @example
 * try {
 *   fromJson("{}");
 * } catch (error) {
 *   if (error instanceof ExchangeError) console.error(error.message);
 * }
 */
export class ExchangeError extends Error {
  override readonly name = "ExchangeError";
}
