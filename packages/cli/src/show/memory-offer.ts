import { visibleLine } from "@banyan/core/shown";
import { type Host, memoryFile } from "@banyan/host";

/** What a person agrees to when they switch memory on: what is kept, where, and who is sent what (S26). */
export function memoryOffer({
  configuration,
  places,
  model,
}: Pick<Host, "configuration" | "places" | "model">): string {
  const { embedModel } = configuration.settings.memory ?? {};
  const [provider = ""] = model.name.split("/", 1);
  const embedder = embedModel === undefined ? "" : `, and all of it to ${visibleLine(embedModel)}`;
  return `Memory is off: with it, what you and the agent say is kept in ${visibleLine(memoryFile(places))}, and what fits is sent to the model of later conversations (now ${visibleLine(provider)})${embedder}; /memory agree switches it on for good.`;
}
