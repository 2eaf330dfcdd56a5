/** The rules of a provider for requests. `docs/models.md` has the source of each rule. See {@link rulesFor}. */
export interface RequestRules {
  /** Form of call ids. Nine letters and digits always match. Absent: any id. */
  readonly callId?: RegExp;
  /** Form of tool names. Up to 64 letters, digits and "_", beginning with a letter, always match. */
  readonly toolName: RegExp;
  /** Form of property names in schemas. Absent: any name. */
  readonly propertyName?: RegExp;
  /** Set if an array in a schema must have `items`. */
  readonly needsItems?: true;
  /** Set if the provider refuses texts of white space only. */
  readonly refusesBlankText?: true;
  /** Maximum number of tools in one request. */
  readonly maxTools?: number;
  /** Set if a response is required between results of calls and the user's next message. */
  readonly needsResponseBeforeUser?: true;
  /** Set if responses with calls are sent back with the reasoning before them, in the field `reasoning_content`. */
  readonly needsReasoningWithCalls?: true;
  /** Set if, with reasoning switched on, a turn must begin with reasoning of the model itself. */
  readonly needsReasoningFirst?: true;
  readonly pictures?: PictureRules;
  /** Rules for the schema of a result. Absent: the provider enforces no schema while it streams. */
  readonly output?: OutputRules | undefined;
}

/** A provider's rules for the schema of a result. */
export interface OutputRules {
  /** Set if the model can call tools although a schema is sent. Absent: only requests without tools get the schema. */
  readonly withTools?: true;
  /** Maximum number of optional properties. Absent: all properties must be required, and optional ones accept null. */
  readonly optional?: number;
  /** `$ref` is accepted. */
  readonly references?: true;
}

export interface PictureRules {
  /** Maximum pixels of the longer side. */
  readonly side?: number;
  /** Maximum pixels in all. */
  readonly pixels?: number;
  /** Maximum bytes of an image. */
  readonly bytes?: number;
  /** Maximum images in one request; 0: only text. */
  readonly most?: number;
  /** Media types of images, as in `image/png`. Absent: any type. */
  readonly kinds?: readonly string[];
  /** The limit for many images: if there are more than `above`, each image has at most `side` pixels per side. */
  readonly crowd?: { readonly above: number; readonly side: number };
}

/** Rules for a provider, or for models of a certain name on any server. If several rows match a model, all apply. */
export interface RulesRow {
  readonly provider?: RegExp;
  readonly model?: RegExp;
  readonly rules: Partial<RequestRules>;
}
