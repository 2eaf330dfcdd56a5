import { filesHeading } from "../../conversation/forms/file-parts.ts";
import type { FilePart, ReasoningPart, TextPart } from "../../conversation/part.ts";
import type { PromptCall, PromptMessage, PromptResult } from "../../ports/model.ts";
import { encodableResult, PICTURES } from "../result-shown.ts";
import { legalId, legalName, wellFormed } from "./form.ts";
import { isPictureFile, pictureProblem } from "./pictures.ts";
import type { RequestRules } from "./rules.ts";
import { renameProperties } from "./tools.ts";

type UserPromptMessage = Extract<PromptMessage, { role: "user" }>;
type AssistantPromptMessage = Extract<PromptMessage, { role: "assistant" }>;

/** Parts that the provider refused and that later requests omit. */
export interface RefusedContent {
  /** Reasoning, and parts with signatures or ids of the provider. */
  readonly reasoning: WeakSet<object>;
  readonly pictures: WeakSet<FilePart>;
}

export interface MessageRuleContext {
  readonly renamed: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly leftOut: RefusedContent;
  readonly takes?: readonly string[] | undefined;
}

export interface LegalMessages {
  readonly messages: readonly PromptMessage[];
  readonly notes: readonly string[];
  readonly pictures: readonly FilePart[];
}

const SEEN: PromptMessage = {
  role: "assistant",
  parts: [{ type: "text", text: "I have seen the results." }],
  results: [],
};

interface RewriteProgress {
  readonly of: PromptMessage[];
  /** Absent while no message was changed. */
  changed: PromptMessage[] | undefined;
  readonly pictures: FilePart[];
}

/** Nothing: the message is omitted. */
type Rewritten = PromptMessage | "same" | undefined;

/** Rewrites messages so that one provider accepts them. Messages never change, so each is rewritten once per branch. */
export class MessageRewriter {
  readonly #rules: RequestRules;
  // No value refers to its key: such an entry would survive every minor collection, with all that it refers to.
  /** What has been rewritten of each branch. The key is the branch's growing list of messages. */
  readonly #walks = new WeakMap<readonly PromptMessage[], RewriteProgress>();
  /**
   * The rewritten form of each message. `key`: the images, renamed properties and refused parts that affect this form.
   */
  readonly #fitted = new WeakMap<PromptMessage, { readonly key: string; readonly message: Rewritten }>();
  /** The results of a message's calls, and the user message with the files of these results. */
  readonly #split = new WeakMap<PromptMessage, readonly PromptMessage[]>();
  readonly #numbers = new WeakMap<object, number>();
  #count = 0;

  constructor(rules: RequestRules) {
    this.#rules = rules;
  }

  /** @param version Grows with each omitted part. */
  rewrite(messages: readonly PromptMessage[], around: MessageRuleContext, version: number): LegalMessages {
    const { changed, pictures } = this.#walk(messages);
    const plain = changed ?? messages;
    const notes = new Set<string>();
    const refusals = this.#refusals(pictures, around.leftOut, notes);
    const needsFitting = refusals.size > 0 || around.renamed.size > 0 || version > 0;
    const fitted = needsFitting
      ? plain.flatMap((message) => this.#fit(message, around, refusals, version) ?? [])
      : plain;
    const legal = this.#rules.needsResponseBeforeUser ? this.#withResponses(fitted, around) : fitted;
    const sent = refusals.size === 0 ? pictures : pictures.filter((picture) => !refusals.has(picture));
    return { messages: legal, notes: [...notes], pictures: sent };
  }

  /** Continues at the end of the branch's last request, so that a step costs only its new messages. */
  #walk(messages: readonly PromptMessage[]): RewriteProgress {
    let walk = this.#walks.get(messages);
    if (!walk || !beginsWith(messages, walk.of)) {
      walk = { of: [], changed: undefined, pictures: [] };
      this.#walks.set(messages, walk);
    }
    for (let index = walk.of.length; index < messages.length; index++) {
      const message = messages[index] as PromptMessage;
      const plain = legalMessage(message, this.#rules);
      if (plain !== message) walk.changed ??= messages.slice(0, index);
      walk.of.push(message);
      if (!plain) continue;
      walk.changed?.push(plain);
      for (const picture of picturesOf(plain)) walk.pictures.push(picture);
    }
    return walk;
  }

  #refusals(
    pictures: readonly FilePart[],
    { pictures: refused }: RefusedContent,
    notes: Set<string>,
  ): Map<FilePart, string> {
    const refusals = new Map<FilePart, string>();
    const { pictures: rules } = this.#rules;
    for (const picture of pictures) if (refused.has(picture)) refusals.set(picture, "the provider refused it");
    if (!rules || pictures.length === 0) return refusals;
    const left = pictures.filter((picture) => !refusals.has(picture));
    // Omits images in blocks, so that the beginning of requests stays the same while images are added.
    const { most = Number.POSITIVE_INFINITY } = rules;
    const block = Math.ceil(most / 2);
    const over = left.length > most && most > 0 ? Math.ceil((left.length - most) / block) * block : 0;
    const sent = left.length - over;
    for (const [index, picture] of left.entries()) {
      const why =
        index < over
          ? `the provider takes ${most} pictures, and newer ones are shown`
          : pictureProblem(picture, rules, sent);
      if (why === undefined) continue;
      refusals.set(picture, why);
      notes.add(`${fileLabel(picture)} is not shown to the model: ${why}.`);
    }
    return refusals;
  }

  #fit(
    message: PromptMessage,
    around: MessageRuleContext,
    refusals: ReadonlyMap<FilePart, string>,
    version: number,
  ): PromptMessage | undefined {
    const reasons = picturesOf(message).map((picture) => refusals.get(picture) ?? "");
    const key = JSON.stringify([reasons, this.#numberOf(around.renamed), version]);
    let known = this.#fitted.get(message);
    if (known?.key !== key) {
      const fitted = fittedMessage(message, around, refusals);
      known = { key, message: fitted === message ? "same" : fitted };
      this.#fitted.set(message, known);
    }
    return known.message === "same" ? message : known.message;
  }

  #numberOf(value: object): number {
    let number = this.#numbers.get(value);
    if (number === undefined) {
      number = ++this.#count;
      this.#numbers.set(value, number);
    }
    return number;
  }

  #withResponses(messages: readonly PromptMessage[], around: MessageRuleContext): PromptMessage[] {
    return messages.flatMap((message, index) => {
      const parts = this.#withoutFiles(message, around);
      const isFollowed = parts.length === 1 && messages[index + 1]?.role === "user";
      return isFollowed && message.role === "assistant" && message.results.length > 0 ? [...parts, SEEN] : parts;
    });
  }

  /** Moves files of results into a following user message. */
  #withoutFiles(message: PromptMessage, { takes = PICTURES }: MessageRuleContext): readonly PromptMessage[] {
    if (message.role === "user" || message.results.every(({ files = [] }) => files.length === 0)) return [message];
    let split = this.#split.get(message);
    if (!split) {
      const shown = message.results.map((result) => ({ result, ...encodableResult(result, takes) }));
      const results = shown.map(({ result: { files: _, ...bare }, text }) => ({ ...bare, output: text }));
      const parts = shown.flatMap(({ result, files }): (TextPart | FilePart)[] =>
        files.length === 0 ? [] : [{ type: "text", text: filesHeading(result) }, ...files],
      );
      const bare: PromptMessage = { ...message, results };
      split = parts.length === 0 ? [bare] : [bare, SEEN, { role: "user", parts }];
      this.#split.set(message, split);
    }
    return split;
  }
}

function beginsWith(messages: readonly PromptMessage[], begin: readonly PromptMessage[]): boolean {
  let index = 0;
  while (index < begin.length && begin[index] === messages[index]) index++;
  return index === begin.length;
}

const NO_PICTURES: readonly FilePart[] = [];

export function picturesOf(message: PromptMessage): readonly FilePart[] {
  return message.role === "user"
    ? message.parts.filter((part): part is FilePart => part.type === "file" && isPictureFile(part))
    : message.results.some(({ files }) => files !== undefined)
      ? message.results.flatMap(({ files }) => files?.filter(isPictureFile) ?? [])
      : NO_PICTURES;
}

/** Rewrites texts, names and ids in a provider's form. Returns nothing for an empty message. */
function legalMessage(message: PromptMessage, rules: RequestRules): PromptMessage | undefined {
  const whole = wellFormed(message);
  return whole.role === "user" ? legalUser(whole, rules) : legalAssistant(whole, rules);
}

function legalUser(message: UserPromptMessage, rules: RequestRules): PromptMessage {
  const parts = message.parts.filter((part) => !isRefusedBlankText(part, rules));
  // An empty message keeps its place between two responses.
  if (parts.every((part) => part.type === "text" && part.text === ""))
    return { role: "user", parts: [{ type: "text", text: "(blank)" }] };
  return parts.length === message.parts.length ? message : { role: "user", parts };
}

function legalAssistant(message: AssistantPromptMessage, rules: RequestRules): PromptMessage | undefined {
  // Drivers omit an empty response, so the rules for its neighbours must not count it.
  if (message.parts.every((part) => part.type === "text" && part.text === "")) return undefined;
  const isLegal =
    message.parts.every((part) =>
      part.type === "call" ? legalCall(part, rules) === part : !isRefusedBlankText(part, rules),
    ) && message.results.every((result) => legalResult(result, rules) === result);
  if (isLegal) return message;
  const parts = message.parts
    .filter((part) => !isRefusedBlankText(part, rules))
    .map((part) => (part.type === "call" ? legalCall(part, rules) : part));
  // Providers refuse a response that ends with reasoning.
  while (parts.at(-1)?.type === "reasoning") parts.pop();
  if (parts.length === 0) return undefined;
  return { ...message, parts, results: message.results.map((result) => legalResult(result, rules)) };
}

function isRefusedBlankText(part: PromptMessage["parts"][number], { refusesBlankText }: RequestRules): boolean {
  return refusesBlankText === true && part.type === "text" && part.text.trim() === "";
}

function legalCall(call: PromptCall, rules: RequestRules): PromptCall {
  const id = legalId(call.id, rules.callId);
  const tool = legalName(call.tool, rules.toolName);
  return id === call.id && tool === call.tool ? call : { ...call, id, tool };
}

function legalResult(result: PromptResult, rules: RequestRules): PromptResult {
  const call = legalId(result.call, rules.callId);
  const tool = legalName(result.tool, rules.toolName);
  const output = rules.refusesBlankText && result.output.trim() === "" ? "(no output)" : result.output;
  return call === result.call && tool === result.tool && output === result.output
    ? result
    : { ...result, call, tool, output };
}

function fittedMessage(
  message: PromptMessage,
  around: MessageRuleContext,
  refusals: ReadonlyMap<FilePart, string>,
): PromptMessage | undefined {
  if (message.role === "user") {
    if (!picturesOf(message).some((picture) => refusals.has(picture))) return message;
    return { role: "user", parts: message.parts.map((part) => shownPart(part, refusals)) };
  }
  const { renamed, leftOut } = around;
  const isRefused = message.parts.some((part) => leftOut.reasoning.has(part));
  const kept = isRefused ? message.parts.flatMap(withoutReasoning) : message.parts;
  if (kept.length === 0) return undefined;
  const parts = kept.map((part) => {
    const names = part.type === "call" ? renamed.get(part.tool) : undefined;
    return part.type === "call" && names ? { ...part, input: renameProperties(part.input, names) } : part;
  });
  const results = message.results.map((result) => shownResult(result, refusals));
  const same =
    parts.every((part, index) => part === message.parts[index]) &&
    parts.length === message.parts.length &&
    results.every((result, index) => result === message.results[index]);
  return same ? message : { ...message, parts, results };
}

/** Signatures and ids of other parts refer to the reasoning, so they are removed too. */
function withoutReasoning(
  part: AssistantPromptMessage["parts"][number],
): readonly AssistantPromptMessage["parts"][number][] {
  if (part.type === "reasoning") return [];
  if (part.type === "provider" || part.provider === undefined) return [part];
  const { provider: _, ...bare } = part;
  return [bare as Exclude<typeof part, ReasoningPart>];
}

function shownPart(part: TextPart | FilePart, refusals: ReadonlyMap<FilePart, string>): TextPart | FilePart {
  const why = part.type === "file" ? refusals.get(part) : undefined;
  return part.type === "file" && why !== undefined ? { type: "text", text: notShown(part, why) } : part;
}

function shownResult(result: PromptResult, refusals: ReadonlyMap<FilePart, string>): PromptResult {
  const { files = [] } = result;
  const left = files.filter((file) => refusals.has(file));
  if (left.length === 0) return result;
  const { files: _, ...bare } = result;
  const shown = files.filter((file) => !refusals.has(file));
  const output = [result.output, ...left.map((file) => notShown(file, refusals.get(file) ?? ""))]
    .filter((line) => line !== "")
    .join("\n");
  return { ...bare, output, ...(shown.length > 0 ? { files: shown } : {}) };
}

function notShown(file: FilePart, why: string): string {
  return `[${fileLabel(file)} (${file.mediaType}) is not shown to you: ${why}.]`;
}

function fileLabel({ name }: FilePart): string {
  return name ?? "A picture";
}
