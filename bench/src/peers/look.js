/** The description of the tool for the model, the same for every peer. */
export const LOOK = {
  name: "look",
  description: "Reads a file.",
  schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};
