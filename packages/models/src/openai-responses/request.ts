import type { ModelSettings } from "@banyan/core";
import type { ModelRequest, PromptMessage, ToolChoice, ToolSchema } from "@banyan/core/drivers";
import type { ListBody } from "../wire/body.ts";
import { encodeText } from "../wire/bytes.ts";
import {
  addedItems,
  allowedChoice,
  isReasoning,
  type ResponsesTarget,
  responsesHead,
  responsesOptions,
} from "./head.ts";
import type { ItemContext } from "./item.ts";
import { encodeItems, messageItem } from "./messages.ts";
import { type HostedTools, hostedTools } from "./server-tools.ts";

/** The part of a request that its settings decide. */
interface KnownSettings {
  readonly context: ItemContext;
  readonly hosted: HostedTools;
  readonly choice: object | undefined;
  readonly role: "system" | "developer" | "remove";
  /** Pieces of the request before and after the conversation. */
  readonly first: readonly Uint8Array[];
  readonly last: readonly Uint8Array[];
}

interface KnownList {
  readonly settings: KnownSettings;
  readonly instructions: string;
  readonly messages: PromptMessage[];
  /** The instructions, if any, and the messages. */
  readonly pieces: Uint8Array[];
}

interface EncodedBytes {
  readonly context: ItemContext;
  readonly bytes: Uint8Array;
}

/** A request body, and the server tools that the answer may use. */
export interface ResponsesRequest {
  readonly body: ListBody;
  readonly hosted: HostedTools;
}

/**
 * Encodes the requests of one driver (https://platform.openai.com/docs/api-reference/responses/create). Messages never
 * change, so each is encoded once for the same settings.
 */
export class ResponsesEncoder {
  readonly #target: ResponsesTarget;
  readonly #settings = new WeakMap<ModelSettings, KnownSettings>();
  readonly #lists = new WeakMap<readonly PromptMessage[], KnownList>();
  readonly #encodings = new WeakMap<PromptMessage, EncodedBytes>();
  readonly #tools = new WeakMap<readonly ToolSchema[], string>();

  constructor(target: ResponsesTarget) {
    this.#target = target;
  }

  /** Throws `ModelError` for settings and files that the model does not support. */
  encode(request: ModelRequest): ResponsesRequest {
    const { messages, instructions, settings } = request;
    const known = this.#known(settings);
    const { hosted, first, last } = known;
    const head = JSON.stringify(responsesHead(this.#target, request, hosted)).slice(0, -1);
    const pieces = [...first, ...this.#pieces(messages, instructions, known), ...last];
    const after = `]${this.#toolsField(request, known)}}`;
    return { body: { of: messages, before: `${head},"input":[`, pieces, after }, hosted };
  }

  #known(settings: ModelSettings): KnownSettings {
    let known = this.#settings.get(settings);
    if (!known) {
      const { provider, takes, needsType, traits } = this.#target;
      const options = responsesOptions(settings, provider);
      const hosted = hostedTools(settings, provider);
      const reasons = isReasoning(this.#target, options);
      const context: ItemContext = {
        provider,
        takes,
        needsType,
        reasons,
        kinds: hosted.kinds,
        // xAI has no references to items.
        stores: provider !== "xai" && options.store === true,
        inConversation: provider !== "xai" && options.conversation !== undefined,
        followsResponse: provider !== "xai" && options.previousResponseId !== undefined,
        sendsAllFiles: options.passThroughUnsupportedFiles === true,
      };
      const role = (options.systemMessageMode ??
        ((reasons || traits.reasons) && provider !== "xai" ? "developer" : "system")) as "system";
      const { first, last } = addedItems(options);
      known = {
        context,
        hosted,
        choice: allowedChoice(options, hosted),
        role,
        first: first.map((item) => piece(item)),
        last: last.map((item) => piece(item)),
      };
      this.#settings.set(settings, known);
    }
    return known;
  }

  #pieces(messages: readonly PromptMessage[], instructions: string, settings: KnownSettings): readonly Uint8Array[] {
    let list = this.#lists.get(messages);
    const grew = list?.messages.every((message, index) => message === messages[index]);
    if (!list || !grew || list.settings !== settings || list.instructions !== instructions) {
      const { role, context } = settings;
      const pieces = instructions === "" || role === "remove" ? [] : [piece(messageItem(role, instructions, context))];
      list = { settings, instructions, messages: [], pieces };
      this.#lists.set(messages, list);
    }
    for (let index = list.messages.length; index < messages.length; index++) {
      const message = messages[index] as PromptMessage;
      const bytes = this.#encoded(message, settings.context);
      list.messages.push(message);
      if (bytes.length > 0) list.pieces.push(bytes);
    }
    return list.pieces;
  }

  #encoded(message: PromptMessage, context: ItemContext): Uint8Array {
    let known = this.#encodings.get(message);
    if (known?.context !== context) {
      known = { context, bytes: piece(...encodeItems(message, context)) };
      this.#encodings.set(message, known);
    }
    return known.bytes;
  }

  #toolsField({ tools, toolChoice }: ModelRequest, { hosted, choice }: KnownSettings): string {
    const fields = [this.#encodedTools(tools), ...hosted.fields.map((field) => JSON.stringify(field))];
    const list = fields.filter((text) => text !== "").join(",");
    return list === "" ? "" : `,"tools":[${list}],"tool_choice":${JSON.stringify(choice ?? encodedChoice(toolChoice))}`;
  }

  /** The fields of tools, separated by commas. */
  #encodedTools(tools: readonly ToolSchema[]): string {
    let known = this.#tools.get(tools);
    if (known === undefined) {
      // OpenAI makes schemas strict, and so changes them, unless the request says otherwise.
      const strict = this.#target.provider === "xai" ? {} : { strict: false };
      const fields = tools.map(({ name, description, input: parameters }) =>
        JSON.stringify({ type: "function", name, description, parameters, ...strict }),
      );
      known = fields.join(",");
      this.#tools.set(tools, known);
    }
    return known;
  }
}

function encodedChoice(choice: ToolChoice): unknown {
  return typeof choice === "string" ? choice : { type: "function", name: choice.tool };
}

function piece(...items: readonly object[]): Uint8Array {
  return encodeText(items.map((item) => `,${JSON.stringify(item)}`).join(""));
}
