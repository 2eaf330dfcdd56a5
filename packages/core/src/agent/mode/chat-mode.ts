import type { Mode } from "../../turn/mode.ts";

/** Control goes back to the person when the model asks for no call. */
export const chatMode: Mode = Object.freeze({
  name: "chat",
  instructions: "",
  tools: [],
  onAnswer: () => undefined,
  onCalls: () => undefined,
});
