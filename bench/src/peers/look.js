/** What the model is told of the tool, by every peer. */
export const LOOK = {
  name: "look",
  description: "Reads a file.",
  schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};
