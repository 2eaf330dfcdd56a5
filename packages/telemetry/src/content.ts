import type { AssistantMessage, Call, Json } from "@banyan/core";
import type { PromptMessage, ToolSchema } from "@banyan/core/drivers";
import { FINISHES } from "./conventions.ts";

type ContentPart =
  | { readonly type: "text" | "reasoning"; readonly content: string }
  | { readonly type: "tool_call"; readonly id: string; readonly name: string; readonly arguments: Json }
  | { readonly type: "tool_call_response"; readonly id: string; readonly response: string }
  | { readonly type: "blob"; readonly modality: string; readonly mime_type: string; readonly content: string }
  | { readonly type: "uri"; readonly modality: string; readonly mime_type: string; readonly uri: string };

type AnyPart = AssistantMessage["parts"][number] | Extract<PromptMessage, { role: "assistant" }>["parts"][number];

/** Returns the prompt of a model call as JSON, in the format of OpenTelemetry's conventions. */
export function promptAttribute(prompt: readonly PromptMessage[]): string {
  return JSON.stringify(
    prompt.flatMap((message) => {
      const said = { role: message.role, parts: message.parts.flatMap((part) => contentPart(part, [])) };
      if (message.role === "user" || message.results.length === 0) return [said];
      const results = message.results.map(({ call, output }): ContentPart => {
        return { type: "tool_call_response", id: call, response: output };
      });
      return [said, { role: "tool", parts: results }];
    }),
  );
}

/** Returns a model's response as JSON, in the format of OpenTelemetry's conventions. */
export function responseAttribute({ parts, calls, finish = "error" }: AssistantMessage): string {
  const said = parts.flatMap((part) => contentPart(part, calls));
  return JSON.stringify([{ role: "assistant", parts: said, finish_reason: FINISHES[finish] }]);
}

/** Returns the instructions as JSON, in the format of OpenTelemetry's conventions. */
export function instructionsAttribute(instructions: string): string {
  return JSON.stringify([{ type: "text", content: instructions }]);
}

/** Converts the tool schemas in a log to JSON in the format of OpenTelemetry's conventions. */
export function toolsText(schemas: string): string {
  try {
    const tools = JSON.parse(schemas) as readonly ToolSchema[];
    return JSON.stringify(
      tools.map(({ name, description, input }) => ({ type: "function", name, description, parameters: input })),
    );
  } catch {
    return schemas;
  }
}

/** Leaves out sources and a provider's own actions, for which the conventions have no format. */
function contentPart(part: AnyPart, calls: readonly Call[]): ContentPart[] {
  switch (part.type) {
    case "text":
    case "reasoning":
      return [{ type: part.type, content: part.text }];
    case "call": {
      if ("tool" in part) return [{ type: "tool_call", id: part.id, name: part.tool, arguments: part.input }];
      const call = calls.find(({ id }) => id === part.call);
      if (call === undefined) return [];
      return [{ type: "tool_call", id: call.id, name: call.tool, arguments: call.input ?? call.inputText }];
    }
    case "file": {
      const { mediaType, data, url = "" } = part;
      const [kind = ""] = mediaType.split("/");
      const modality = ["image", "audio", "video"].includes(kind) ? kind : "document";
      const what = { modality, mime_type: mediaType };
      return [data === undefined ? { type: "uri", ...what, uri: url } : { type: "blob", ...what, content: data }];
    }
    case "source":
    case "provider":
      return [];
    default:
      return part satisfies never;
  }
}
