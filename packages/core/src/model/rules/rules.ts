import { PROVIDER_RULES } from "./providers.ts";

/** What a provider takes in a request. `docs/models.md` has the source of each rule. */
export interface RequestRules {
  /** The form of ids of calls; nine letters and digits always match. Absent: any id. */
  readonly callId?: RegExp;
  /** The form of names of tools; up to 64 letters, digits and "_" with a letter first always match. */
  readonly toolName: RegExp;
  /** The form of names of properties in schemas. Absent: any name. */
  readonly propertyName?: RegExp;
  /** An array in a schema must say what its items are. */
  readonly needsItems?: true;
  /** Texts of white space alone are refused. */
  readonly refusesBlankText?: true;
  /** Tools that one request may offer. */
  readonly maxTools?: number;
  /** Results of calls and the next message of the user need a response between them. */
  readonly needsResponseBeforeUser?: true;
  /** Responses with calls go back with the reasoning before the calls, in the field `reasoning_content`. */
  readonly needsReasoningWithCalls?: true;
  /** While the model thinks, a turn must begin with its own reasoning. */
  readonly needsReasoningFirst?: true;
  readonly pictures?: PictureRules;
}

export interface PictureRules {
  /** Pixels of the longer side. Absent: any. */
  readonly side?: number;
  /** Pixels of a picture. Absent: any number. */
  readonly pixels?: number;
  /** Bytes of a picture. Absent: any number. */
  readonly bytes?: number;
  /** Pictures in one request; 0: the provider takes text alone. Absent: any number. */
  readonly most?: number;
  /** Kinds of pictures, as in `image/png`. Absent: any kind. */
  readonly kinds?: readonly string[];
  /** With more pictures than `above`, the longer side of each is at most `side`. */
  readonly crowd?: { readonly above: number; readonly side: number };
}

/** Rules for a provider, or for models by their name at any server. Later rows add to earlier ones. */
export interface RulesRow {
  readonly provider?: RegExp;
  readonly model?: RegExp;
  readonly rules: Partial<RequestRules>;
}

const known = new Map<string, RequestRules>();

/**
 * The rules for a model.
 *
 * @param provider As the packages of the AI SDK name it, with the format: `openai.responses`, `anthropic.messages`.
 * @param model The model as its server calls it.
 */
export function rulesFor(provider: string, model: string): RequestRules {
  const key = `${provider} ${model}`;
  let rules = known.get(key);
  if (!rules) {
    const rows = PROVIDER_RULES.filter(
      (row) => row.provider?.test(provider) !== false && row.model?.test(model) !== false,
    );
    rules = Object.assign({ toolName: /^[a-zA-Z0-9_-]{1,64}$/ }, ...rows.map((row) => row.rules)) as RequestRules;
    known.set(key, rules);
  }
  return rules;
}
