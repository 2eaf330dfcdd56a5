import type { FilePart, Json } from "../../conversation/part.ts";
import {
  type ModelDriver,
  ModelError,
  type ModelPart,
  type ModelRequest,
  type ModelSettings,
  type ModelSink,
  type PromptMessage,
  type ToolChoice,
  type ToolSchema,
} from "../../ports/model.ts";
import { wellFormed } from "./form.ts";
import { MessageRewriter, type RefusedContent } from "./messages.ts";
import { legalOutput } from "./output.ts";
import { isPictureFile, pictureProblem } from "./pictures.ts";
import type { OptionalSetting, RefusedPart } from "./refusal.ts";
import type { RequestRules } from "./rules.ts";
import { type LegalTools, legalTools, type OriginalTool, renameProperties } from "./tools.ts";

/** Maximum number of requests for one response, while the provider refuses one part after another. */
const MOST_REQUESTS = 4;

/** Errors for which an inner driver has already tried all remedies. */
const tried = new WeakSet<ModelError>();

/** The provider that receives the requests, its rules, and the model. See {@link withProviderRules}. */
export interface RequestTarget {
  readonly rules: RequestRules;
  /** Key of the provider's options and signatures. */
  readonly provider: string;
  /** Media types of files that the model accepts in results. */
  readonly takes?: readonly string[] | undefined;
  /** Parameters that the driver itself adds. If one is `null` in the provider's options, the driver omits it. */
  readonly parameters?: readonly string[];
  /**
   * A key that several drivers of one model share. If the provider refuses a parameter to one of them, all of them omit
   * it.
   */
  readonly model?: object;
}

/**
 * Wraps a driver so that its requests obey a provider's rules. Responses get the original names of tools and
 * properties. If the provider's error names a part of the request that it does not accept, the driver sends the request
 * again without this part, and omits the part from then on. A note informs the user of each change.
 * @example const driver = withProviderRules(model, { rules: rulesFor("openai.chat", "gpt-5"), provider: "openai" });
 */
export function withProviderRules(driver: ModelDriver, target: RequestTarget): ModelDriver {
  const requests = requestsTo(target, driver.id);
  const { maxTools, pictures } = target.rules;
  return {
    ...driver,
    ...(maxTools === undefined ? {} : { maxTools }),
    ...(pictures && {
      pictureProblem: (file: FilePart) => (isPictureFile(file) ? pictureProblem(file, pictures, 1) : undefined),
    }),
    async stream(request, sink, signal) {
      signal.throwIfAborted();
      // Copied before the first await, because the list of messages grows later.
      let legal = requests.of(request);
      const { length } = request.messages;
      for (let sent = 1; ; sent++) {
        if (legal.notes.length > 0) sink.push(legal.notes.map((text) => ({ type: "note", text })));
        const watched = new RestoringSink(sink, legal.tools.originals);
        try {
          await driver.stream(legal.request, watched, signal);
          requests.accept(legal);
          return;
        } catch (error) {
          if (!(error instanceof ModelError) || tried.has(error) || watched.begun) throw error;
          tried.add(error);
          const part =
            sent < MOST_REQUESTS ? await findRefusedPart(error, legal.request, target.parameters) : undefined;
          const note = part && requests.leaveOut(part, legal, request.output);
          if (note === undefined) throw error;
          sink.push([{ type: "note", text: note }]);
          legal = requests.of({ ...request, messages: request.messages.slice(0, length) });
        }
      }
    },
  };
}

/**
 * Returns the part of a request that the provider refused, if any. Only a refusal loads the code. If the code cannot be
 * loaded, the provider's error remains.
 */
async function findRefusedPart(error: ModelError, request: ModelRequest, own: readonly string[] | undefined) {
  if (error.code !== "invalid-request" && error.code !== "provider") return undefined;
  const refusal = await import("./refusal.ts").catch(() => undefined);
  return refusal?.refusedPart(error, request, own);
}

const requestsByModel = new WeakMap<object, LegalRequests>();

function requestsTo(target: RequestTarget, id: string): LegalRequests {
  const known = target.model && requestsByModel.get(target.model);
  if (known) return known;
  const requests = new LegalRequests(target, id);
  if (target.model) requestsByModel.set(target.model, requests);
  return requests;
}

interface LegalRequest {
  readonly request: ModelRequest;
  readonly tools: LegalTools;
  readonly notes: readonly string[];
  readonly pictures: readonly FilePart[];
}

class LegalRequests {
  readonly #target: RequestTarget;
  readonly #id: string;
  readonly #messages: MessageRewriter;
  readonly #tools = new WeakMap<readonly ToolSchema[], LegalTools>();
  #settings = new WeakMap<ModelSettings, ModelSettings>();
  readonly #unthinking = new WeakMap<ModelSettings, ModelSettings>();
  readonly #leftOut: RefusedContent = { reasoning: new WeakSet(), pictures: new WeakSet() };
  readonly #refused = new Map<string, OptionalSetting | undefined>();
  /** Schemas of results in the form that the provider accepts. `undefined`: the schema is not sent. */
  readonly #outputs = new WeakMap<object, Json | undefined>();
  readonly #accepted = new WeakSet<FilePart>();
  #version = 0;

  constructor(target: RequestTarget, id: string) {
    this.#target = target;
    this.#id = id;
    this.#messages = new MessageRewriter(target.rules);
  }

  of(request: ModelRequest): LegalRequest {
    const { rules, takes } = this.#target;
    let tools = this.#tools.get(request.tools);
    if (!tools) {
      tools = legalTools(request.tools, rules);
      this.#tools.set(request.tools, tools);
    }
    const around = { renamed: tools.renamed, leftOut: this.#leftOut, takes };
    const { messages, notes, pictures } = this.#messages.rewrite(request.messages, around, this.#version);
    const instructions = wellFormed(request.instructions);
    const settings = this.#settingsOf(request.settings, messages);
    const legal = {
      ...request,
      instructions: rules.refusesBlankText && instructions.trim() === "" ? "" : instructions,
      messages,
      tools: tools.schemas,
      toolChoice: legalChoice(request, tools),
      settings,
      ...(request.output !== undefined && { output: this.#outputOf(request) }),
    };
    return { request: legal, tools, notes: [...tools.notes, ...notes], pictures };
  }

  accept({ pictures }: LegalRequest): void {
    for (const picture of pictures) this.#accepted.add(picture);
  }

  /** Omits a part from now on, and returns the sentence for the user. Nothing if the part is omitted already. */
  leaveOut(part: RefusedPart, { pictures }: LegalRequest, output?: Json): string | undefined {
    if (part === "output") {
      this.#outputs.set(output as object, undefined);
      return "The provider refused the schema of the result. From now on, only the instructions contain the schema.";
    }
    if (part === "pictures") {
      const fresh = pictures.filter((picture) => !this.#accepted.has(picture));
      const refused = fresh.length > 0 ? fresh : pictures;
      for (const picture of refused) this.#leftOut.pictures.add(picture);
      this.#version++;
      const names = [...new Set(refused.map(({ name }) => name ?? "a picture"))].join(", ");
      return `The provider refused ${names}. Requests omit this content from now on.`;
    }
    if ("reasoning" in part) {
      for (const one of part.reasoning) this.#leftOut.reasoning.add(one);
      this.#version++;
      return "The provider refused the reasoning of earlier responses. Requests omit this reasoning from now on.";
    }
    const { parameter, setting } = part;
    if (this.#refused.has(parameter)) return undefined;
    this.#refused.set(parameter, setting);
    this.#settings = new WeakMap();
    return `The provider does not accept ${parameter}. Requests omit this parameter from now on.`;
  }

  #outputOf({ output, tools, toolChoice, settings }: ModelRequest): Json | undefined {
    if (typeof output !== "object" || output === null) return undefined;
    // A response that must be a call is no result.
    if (toolChoice !== "auto" && toolChoice !== "none") return undefined;
    const { rules } = this.#target;
    if (!rules.output?.withTools && (tools.length > 0 || settings.serverTools?.length)) return undefined;
    if (!this.#outputs.has(output)) this.#outputs.set(output, legalOutput(output, rules));
    return this.#outputs.get(output);
  }

  #settingsOf(settings: ModelSettings, messages: readonly PromptMessage[]): ModelSettings {
    let legal = this.#settings.get(settings);
    if (!legal) {
      legal = this.#withoutRefused(wellFormed(settings));
      this.#settings.set(settings, legal);
    }
    if (!this.#target.rules.needsReasoningFirst || !this.#isForeignTurn(messages)) return legal;
    let unthinking = this.#unthinking.get(legal);
    if (!unthinking) {
      unthinking = withoutThinking(legal, this.#target.provider);
      this.#unthinking.set(legal, unthinking);
    }
    return unthinking;
  }

  /** True if another provider's model began the turn, or if the reasoning of its beginning was refused. */
  #isForeignTurn(messages: readonly PromptMessage[]): boolean {
    const begin = messages.findLastIndex(({ role }) => role === "user");
    const first = messages[begin + 1];
    if (first?.role !== "assistant" || first.results.length === 0 || !first.model) return false;
    const isOwn = first.model.split("/", 1)[0] === this.#id.split("/", 1)[0];
    if (isOwn && this.#version === 0) return false;
    const [part] = first.parts;
    const isKnown = (name: string) => this.#target.provider.includes(name);
    return part?.type !== "reasoning" || !Object.keys(part.provider ?? {}).some(isKnown);
  }

  #withoutRefused(settings: ModelSettings): ModelSettings {
    let legal: ModelSettings = settings;
    const { provider, parameters = [] } = this.#target;
    for (const [parameter, setting] of this.#refused) {
      if (setting) legal = { ...legal, [setting]: undefined };
      if (parameters.includes(parameter)) {
        const own = { ...legal.providerOptions?.[provider], [parameter]: null };
        legal = { ...legal, providerOptions: { ...legal.providerOptions, [provider]: own } };
      } else if (legal.providerOptions) {
        const options = Object.entries(legal.providerOptions).map(([name, own]) => {
          const { [parameter]: _, ...rest } = own;
          return [name, rest];
        });
        legal = { ...legal, providerOptions: Object.fromEntries(options) };
      }
    }
    return legal;
  }
}

/** Returns the choice of tools with the provider's name of the tool. Throws if the request has no such tool. */
function legalChoice({ toolChoice, tools: asked }: ModelRequest, { schemas, originals }: LegalTools): ToolChoice {
  if (toolChoice === "auto" || toolChoice === "none") return toolChoice;
  if (toolChoice === "required") {
    if (schemas.length > 0 || asked.length === 0) return toolChoice;
    throw new ModelError("invalid-request", "toolChoice forces a call, but the provider accepts none of the tools.");
  }
  const { tool } = toolChoice;
  const sent = schemas.find(({ name }) => (originals.get(name)?.name ?? name) === tool);
  if (sent) return sent.name === tool ? toolChoice : { tool: sent.name };
  throw new ModelError(
    "invalid-request",
    `toolChoice forces a call of "${tool}", but the request leaves this tool out.`,
  );
}

function withoutThinking({ effort: _, ...settings }: ModelSettings, provider: string): ModelSettings {
  const own = settings.providerOptions?.[provider];
  if (!own) return settings;
  const { thinking: _thinking, reasoningConfig: _config, ...rest } = own;
  return { ...settings, providerOptions: { ...settings.providerOptions, [provider]: rest } };
}

/** Maps names of tools and properties back, and notes that the response has begun. */
class RestoringSink implements ModelSink {
  begun = false;
  readonly #sink: ModelSink;
  readonly #originals: ReadonlyMap<string, OriginalTool>;
  /** Arguments that are held back until they are complete, by index of their call. */
  readonly #held = new Map<number, { readonly properties: OriginalTool["properties"]; text: string }>();

  constructor(sink: ModelSink, originals: ReadonlyMap<string, OriginalTool>) {
    this.#sink = sink;
    this.#originals = originals;
  }

  push(parts: readonly ModelPart[]): boolean {
    if (parts.length > 0 && !this.begun) this.begun = parts.some(({ type }) => type !== "note");
    if (this.#originals.size === 0) return this.#sink.push(parts);
    return this.#sink.push(parts.flatMap((part) => this.#restored(part)));
  }

  ready(): Promise<void> {
    return this.#sink.ready();
  }

  #restored(part: ModelPart): readonly ModelPart[] {
    if (part.type === "call") {
      const original = this.#originals.get(part.tool);
      if (!original) return [part];
      if (original.properties.size > 0) this.#held.set(part.index, { properties: original.properties, text: "" });
      return [{ ...part, tool: original.name }];
    }
    if (part.type !== "call-input" && part.type !== "call-end") return [part];
    const held = this.#held.get(part.index);
    if (!held) return [part];
    if (part.type === "call-input") {
      held.text += part.text;
      return [];
    }
    this.#held.delete(part.index);
    return [{ type: "call-input", index: part.index, text: restoredInput(held.text, held.properties) }, part];
  }
}

function restoredInput(text: string, properties: OriginalTool["properties"]): string {
  try {
    return JSON.stringify(renameProperties(JSON.parse(text), properties));
  } catch {
    // Arguments that are not JSON stay as the model wrote them; the later check reports the error.
    return text;
  }
}
