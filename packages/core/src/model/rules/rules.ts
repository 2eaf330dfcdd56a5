/** A provider's requirements on requests. `docs/models.md` has the source of each rule. */
export interface RequestRules {
  /** Form of call ids; nine letters and digits always match. Absent: any id. */
  readonly callId?: RegExp;
  /** Form of tool names; up to 64 letters, digits and "_", beginning with a letter, always match. */
  readonly toolName: RegExp;
  /** Form of property names in schemas. Absent: any name. */
  readonly propertyName?: RegExp;
  /** An array in a schema must have `items`. */
  readonly needsItems?: true;
  /** Texts with only white space are refused. */
  readonly refusesBlankText?: true;
  /** Maximum number of tools in one request. */
  readonly maxTools?: number;
  /** A response is required between results of calls and the user's next message. */
  readonly needsResponseBeforeUser?: true;
  /** Responses with calls are sent back with their preceding reasoning, in the field `reasoning_content`. */
  readonly needsReasoningWithCalls?: true;
  /** With reasoning switched on, a turn must begin with the model's own reasoning. */
  readonly needsReasoningFirst?: true;
  readonly pictures?: PictureRules;
}

export interface PictureRules {
  /** Pixels of the longer side. Absent: any. */
  readonly side?: number;
  /** Pixels in all. Absent: any number. */
  readonly pixels?: number;
  /** Bytes of an image. Absent: any number. */
  readonly bytes?: number;
  /** Images in one request; 0: only text. Absent: any number. */
  readonly most?: number;
  /** Kinds of images, as in `image/png`. Absent: any kind. */
  readonly kinds?: readonly string[];
  /** With more images than `above`, the longer side of each is at most `side`. */
  readonly crowd?: { readonly above: number; readonly side: number };
}

/** Rules for a provider, or for models by name on any server. Later rows add to earlier ones. */
export interface RulesRow {
  readonly provider?: RegExp;
  readonly model?: RegExp;
  readonly rules: Partial<RequestRules>;
}
