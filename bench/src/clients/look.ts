/** What the model is told of the tool. */
export const LOOK = {
  name: "look",
  description: "Reads a file.",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
} as const;
