import type { Json } from "@banyan/core";
import type { FilePart, ProviderData, TextPart } from "@banyan/core/conversation";
import type { ModelRequest, PromptMessage, ToolSchema } from "@banyan/core/drivers";
import { schemaProblem } from "@banyan/core/hosts";

/** Random numbers from 0 to 1, the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 4294967296;
  };
}

/** Generates odd content that models, tools and servers have produced. */
export class Odd {
  readonly #next: () => number;
  #count = 0;

  /** Remaining number of images of some megabytes. */
  #large: number;

  constructor(seed: number, large = Number.POSITIVE_INFINITY) {
    this.#next = random(seed);
    this.#large = large;
  }

  up(most: number): number {
    return Math.floor(this.#next() * most);
  }

  of<Item>(...items: readonly Item[]): Item {
    return items[this.up(items.length)] as Item;
  }

  text(): string {
    const half = this.of("\ud83d", "\udc00", "🌳", "", "ß");
    return this.of("", " ", "\n\n", "\t", `plain ${half}`, `${half} cut`, "日本語", `a${half}b${half}`, "ok");
  }

  name(): string {
    const count = ++this.#count;
    const name = this.of(
      "read",
      "read<|channel|>json",
      "read file",
      "écrire",
      "9lives",
      "a.b:c",
      "-dash",
      `x${"y".repeat(90)}`,
      "bad\ud83d",
      "",
    );
    return `${name}${count}`;
  }

  id(): string {
    const count = ++this.#count;
    return `${this.of("call_", "functions.read:", `toolu_${"x".repeat(80)}`, "chatcmpl-tool-", "é", "bad\udc00", " ")}${count}`;
  }

  json(depth = 2): Json {
    if (depth === 0) return this.of<Json>(1, true, null, this.text());
    return this.of<Json>(this.text(), [this.json(depth - 1)], { [this.text()]: this.json(depth - 1) }, { path: "a" });
  }

  /** An image with a valid header and filler bytes. */
  picture(): FilePart {
    if (this.up(8) === 0) {
      const [kind, begin] = this.of(["gif", "GIF89a"] as const, ["bmp", "BM.."] as const);
      const data = Buffer.from(begin.padEnd(60)).toString("base64");
      return { type: "file", mediaType: `image/${kind}`, name: `p.${kind}`, data };
    }
    const isLarge = this.up(20) === 0 && this.#large-- > 0;
    const bytes = Buffer.alloc(isLarge ? 4_200_000 : 60);
    bytes.write("\x89PNG\r\n\x1a\n", "latin1");
    bytes.write("IHDR", 12);
    bytes.writeUInt32BE(this.of(10, 1_900, 2_500, 9_000), 16);
    bytes.writeUInt32BE(this.of(10, 2_000, 8_001), 20);
    return { type: "file", mediaType: "image/png", name: `p${this.text()}.png`, data: bytes.toString("base64") };
  }

  schema(depth = 2): Json {
    if (depth === 0) return this.of<Json>({ type: "string" }, { type: "array" }, { type: "number" }, {});
    const key = this.of("path", "StartTime<", "ids[]", "a".repeat(70), "größe", "bad\ud83d");
    const properties = { [key]: this.schema(depth - 1), plain: this.schema(depth - 1) };
    const object: Json = { type: "object", properties, required: [this.of(key, "plain")] };
    if (this.up(3) === 0) return this.oldSchema(object);
    return this.of<Json>(object, { type: "array", items: object }, { anyOf: [object, { type: "string" }] });
  }

  /** A schema as generators of drafts 3 to 7 and of OpenAPI write it. */
  oldSchema(object: Json): Json {
    const exclusive = this.of("exclusiveMinimum", "exclusiveMaximum");
    return this.of<Json>(
      { id: "https://example.com/old", $schema: "http://json-schema.org/draft-04/schema#", type: "any" },
      { type: "integer", minimum: 1, maximum: 9, [exclusive]: this.of(true, false) },
      { type: "number", [exclusive]: true },
      { type: "array", items: [object, { type: "str" }], additionalItems: this.of<Json>(false, true, object) },
      { type: "object", properties: { a: { type: "string", required: true }, b: { nullable: true, type: "string" } } },
      { type: "object", definitions: { id: { type: "int" } }, properties: { id: { type: "string", required: false } } },
    );
  }

  tool(): ToolSchema {
    const object = { type: "object", properties: { [this.of("q", "q?", "ids[]")]: this.schema() } };
    const input = this.of<Json>(
      object,
      { ...object, anyOf: [{ required: ["q"] }, { properties: { "w[]": this.schema(1) }, required: ["w[]"] }] },
      { ...object, allOf: [{ properties: { more: { type: "array" } } }], not: { required: ["z"] } },
      { oneOf: [object, { type: "object", properties: { z: { type: "string" } } }] },
      { $ref: "#/$defs/args", $defs: { args: { ...object, enum: [{ q: 1 }] } } },
      { $schema: "http://json-schema.org/draft-07/schema#", definitions: { it: object }, ...object },
    );
    return { name: this.name(), description: this.text(), input };
  }

  /** A tool that an agent accepts: its schema can check arguments. */
  usableTool(): ToolSchema {
    for (;;) {
      const tool = this.tool();
      const input: Json = { type: "object", ...(tool.input as object) };
      if (schemaProblem(input) === undefined) return { ...tool, input };
    }
  }

  user(pictures: boolean): PromptMessage {
    const parts: (TextPart | FilePart)[] = [{ type: "text", text: this.text() }];
    while (this.up(2) === 0)
      parts.push(pictures && this.up(2) === 0 ? this.picture() : { type: "text", text: this.text() });
    return { role: "user", parts };
  }

  response(tools: readonly ToolSchema[], pictures: boolean): PromptMessage {
    const asked = Array.from({ length: this.up(3) }, () => {
      const tool = this.up(2) === 0 ? this.name() : (this.of(...tools)?.name ?? "read");
      return { type: "call" as const, id: this.id(), tool, input: { [this.of("q", "ids[]")]: this.json() } };
    });
    const own = this.of<ProviderData>({ openai: { itemId: "rs_1" } }, { other: { signature: this.text() } });
    const thought = this.up(2) === 0 ? [{ type: "reasoning" as const, text: this.text(), provider: own }] : [];
    return {
      role: "assistant",
      model: this.of("anthropic/claude-sonnet-4-5", "openai/gpt-5.4", "local/qwen"),
      parts: [...thought, { type: "text", text: this.text() }, ...asked],
      results: asked.map(({ id, tool }) => {
        const files = pictures && this.up(3) === 0 ? [{ ...this.picture(), digest: "d" }] : [];
        const said = { call: id, tool, output: this.text(), failed: this.up(3) === 0 };
        return files.length > 0 ? { ...said, files } : said;
      }),
    };
  }

  /** Requests of one conversation with three prompts, each longer than the last. */
  conversation({ pictures = true, tools = this.of(1, 3, 140) } = {}): Partial<ModelRequest>[] {
    const offered = Array.from({ length: tools }, () => this.tool());
    const messages: PromptMessage[] = [];
    return [1, 2, 3].map(() => {
      messages.push(this.user(pictures));
      const steps = this.up(3);
      for (let step = 0; step < steps; step++) messages.push(this.response(offered, pictures));
      if (messages.at(-1)?.role === "assistant") messages.push(this.user(pictures));
      return { instructions: "Be kind.", tools: offered, messages: [...messages] };
    });
  }
}

/** A PNG with a valid header only. */
export function png(width: number, height: number): string {
  const bytes = Buffer.alloc(60);
  bytes.write("\x89PNG\r\n\x1a\n", "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes.toString("base64");
}

/** An image of a user or of a result. */
export const picture = (width: number, height: number, name = "a.png") => ({
  type: "file" as const,
  mediaType: "image/png",
  name,
  data: png(width, height),
  digest: "d",
});
