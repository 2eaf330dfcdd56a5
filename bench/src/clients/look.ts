/** The description of the tool for the model. */
export const LOOK = {
  name: "look",
  description: "Reads a file.",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
} as const;
