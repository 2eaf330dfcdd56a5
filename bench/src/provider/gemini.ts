import { type Answers, inputOf, numberBehind, piecesOf } from "./answers.ts";

/** Gemini's contents. Each chunk has the counts so far, as Google sends them. */
export const gemini: Answers = {
  text(chunks, number = 0) {
    return answer(
      `text${number}`,
      piecesOf(chunks).map((text) => ({ text })),
    );
  },
  call(number) {
    const args = JSON.parse(inputOf(number).join(""));
    return answer(`call${number}`, [{ functionCall: { id: `call_${number}`, name: "look", args } }]);
  },
  // Not all clients send the id of a call back.
  lastCall: (request) => numberBehind('"path":"src/chapter-', request),
};

function answer(id: string, parts: readonly object[]): Buffer[] {
  const chunk = (part: object, index: number) => ({
    candidates: [
      {
        content: { parts: [part], role: "model" },
        ...(index === parts.length ? { finishReason: "STOP" } : {}),
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: 20,
      candidatesTokenCount: index + 1,
      totalTokenCount: 21 + index,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 20 }],
    },
    modelVersion: "mock",
    responseId: `5f2c8e1a7b3d${id}`,
  });
  return [...parts, { text: "" }].map((part, index) => Buffer.from(`data: ${JSON.stringify(chunk(part, index))}\n\n`));
}
