import type { ModelPart } from "@banyan/core/drivers";
import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import { textAt } from "../wire/json.ts";

type Source = Extract<ModelPart, { type: "source" }>;

/** Returns the web addresses in the field `groundingMetadata`. Documents without an address are no sources. */
export function sourcesIn(grounding: unknown): readonly Source[] {
  const chunks = isJsonRecord(grounding) ? grounding.groundingChunks : undefined;
  if (!Array.isArray(chunks)) return NONE;
  return chunks.flatMap((chunk: unknown): readonly Source[] => {
    const [field, url] = isJsonRecord(chunk) ? addressIn(chunk) : [];
    if (!field || !url) return NONE;
    const title = textAt(field, "title");
    return [{ type: "source", url, ...(title === "" ? {} : { title }) }];
  });
}

const NONE: readonly Source[] = [];

function addressIn({ web, image, retrievedContext, maps }: JsonRecord): readonly [field: JsonRecord, url: string] | [] {
  if (isJsonRecord(web)) return [web, textAt(web, "uri")];
  if (isJsonRecord(image)) return [image, textAt(image, "sourceUri")];
  if (isJsonRecord(retrievedContext)) {
    const url = textAt(retrievedContext, "uri");
    return /^https?:\/\//.test(url) ? [retrievedContext, url] : [];
  }
  return isJsonRecord(maps) ? [maps, textAt(maps, "uri")] : [];
}
