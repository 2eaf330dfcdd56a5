import { expect, test } from "vitest";
import { resolveModel } from "../../resolve.ts";

const png = (width: number, height: number, bytes = 60) => {
  const header = Buffer.alloc(bytes);
  header.write("\x89PNG\r\n\x1a\n", "latin1");
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  return { type: "file" as const, mediaType: "image/png", data: header.toString("base64") };
};
const of = (kind: string) => ({ type: "file" as const, mediaType: `image/${kind}`, data: "AAAA" });

const KEYS = {
  ANTHROPIC_API_KEY: "k",
  OPENAI_API_KEY: "k",
  XAI_API_KEY: "k",
  DEEPSEEK_API_KEY: "k",
  GROQ_API_KEY: "k",
  GOOGLE_GENERATIVE_AI_API_KEY: "k",
  MISTRAL_API_KEY: "k",
  AZURE_API_KEY: "k",
  AZURE_RESOURCE_NAME: "r",
};

// Each row of docs/models.md about images: an image that its provider never accepts, and the end of the sentence.
test.each([
  ["anthropic/claude-sonnet-4-5", png(8_001, 10), "it has 8001 × 10 pixels, and the provider takes 8000 per side"],
  ["anthropic/claude-sonnet-4-5", png(1, 1, 4_000_000), "it has 4 MB, and the provider takes 3.8 MB"],
  ["openai/gpt-5.4", of("bmp"), "it is image/bmp, and the provider takes png, jpeg, webp, gif"],
  ["openai-chat/gpt-5.4", of("tiff"), "it is image/tiff, and the provider takes png, jpeg, webp, gif"],
  ["azure/deployed", of("heic"), "it is image/heic, and the provider takes png, jpeg, webp, gif"],
  ["azure/deployed", png(1, 1, 21_000_000), "it has 21 MB, and the provider takes 20 MB"],
  ["google/gemini-3.5-flash", of("gif"), "it is image/gif, and the provider takes png, jpeg, webp, heic, heif"],
  ["google/gemini-3.5-flash", png(1, 1, 15_100_000), "it has 15.1 MB, and the provider takes 15 MB"],
  ["xai/grok-4.5", of("webp"), "it is image/webp, and the provider takes png, jpeg"],
  ["xai/grok-4.5", png(1, 1, 21_100_000), "it has 21.1 MB, and the provider takes 21 MB"],
  ["deepseek/deepseek-v4-flash", png(1, 1), "the provider takes no pictures"],
  ["groq/openai/gpt-oss-120b", png(6_000, 6_000), "it has 6000 × 6000 pixels, and the provider takes 33177600 in all"],
  ["mistral/mistral-medium-latest", png(1, 1, 10_100_000), "it has 10.1 MB, and the provider takes 10 MB"],
])("F47: %s refuses a picture before it is sent: %#", async (name, picture, problem) => {
  const model = await resolveModel(name, { env: KEYS });
  expect("pictureProblem" in model && model.pictureProblem?.(picture)).toBe(problem);
  const fine = name.startsWith("deepseek/") ? { ...of("png"), mediaType: "application/pdf" } : png(100, 100);
  expect("pictureProblem" in model && model.pictureProblem?.(fine)).toBeUndefined();
});
