import type { About, Preview } from "../conversation/message.ts";
import type { PreviewContext, Tool } from "../ports/tool.ts";
import { checkedInput } from "./checked-input.ts";
import { messageOf, withGrace } from "./execute.ts";

/** What a tool says that a call is about; nothing when it does not say, or cannot. */
export function aboutCall(tool: Tool, input: unknown): About | undefined {
  try {
    return tool.about && (checkedInput(tool.about(input)).input as About);
  } catch {
    // Its arguments are shown by their names, as those of a tool that says nothing.
    return undefined;
  }
}

/** What a call would do, for the person who is asked. Never rejects. */
export async function previewOf(tool: Tool, input: unknown, context: PreviewContext): Promise<Preview | undefined> {
  if (!tool.preview) return undefined;
  try {
    const preview = await withGrace(context.signal, async () => tool.preview?.(input, context));
    return preview && (checkedInput(preview).input as Preview);
  } catch (error) {
    return { notes: [`What it would change cannot be shown: ${messageOf(error)}`] };
  }
}
