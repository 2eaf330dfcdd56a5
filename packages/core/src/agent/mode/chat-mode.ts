import type { Mode } from "../../run/mode.ts";

/** Control goes back to the person when the model asks for no call. */
export const chatMode: Mode = Object.freeze({
  name: "chat",
  instructions: "",
  tools: [],
  onResponse: () => undefined,
  onCalls: () => undefined,
});
