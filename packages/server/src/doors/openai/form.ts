import { ClientError } from "@banyan/client";
import type { AgentOptions } from "@banyan/core";
import { z } from "zod";
import type { DescribedTool } from "./words.ts";

const jsonForm = z.looseObject({
  name: z.string().max(200).nullish(),
  description: z.string().max(10_000).nullish(),
  schema: z.record(z.string(), z.json()).nullish(),
});

/** The fields of a chat completion request that require a format of the answer. */
export const formFields = {
  tool_choice: z
    .union(
      [
        z.enum(["auto", "none", "required"]),
        z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: z.string() }) }),
      ],
      { error: 'expected "auto", "none", "required" or a function' },
    )
    .nullish(),
  response_format: z
    .union(
      [
        z.looseObject({ type: z.enum(["text", "json_object"]) }),
        z.looseObject({ type: z.literal("json_schema"), json_schema: jsonForm }),
      ],
      { error: 'expected the type "text", "json_object" or "json_schema"' },
    )
    .nullish(),
};

interface Demand extends z.infer<z.ZodObject<typeof formFields>> {
  readonly tools?: readonly DescribedTool[] | null | undefined;
}

/** The format that a request requires of its answer. */
export interface AnswerForm {
  readonly schema: NonNullable<AgentOptions["output"]>;
  /** A sentence for the model. */
  readonly purpose: string;
  /** The function to call. Absent: the answer is JSON as text. */
  readonly tool?: string;
  /**
   * The finish reason of the answer. OpenAI's API ends a call of a named function with `stop`, a required call with
   * `tool_calls`.
   */
  readonly reason: "answered" | "calls";
}

/**
 * Returns the form of answer that a request requires: a call of one function, or JSON. Returns `undefined` if the
 * request leaves the form open. Throws `ClientError` if the request requires a call, and not exactly one function of
 * `tools` can be called.
 */
export function formOf({ tools, tool_choice, response_format }: Demand): AnswerForm | undefined {
  if ((tool_choice === "required" || typeof tool_choice === "object") && tool_choice !== null)
    return callForm(tools ?? [], tool_choice === "required" ? undefined : tool_choice.function.name);
  switch (response_format?.type) {
    case "json_object":
      return { schema: { type: "object" }, purpose: "The result is a JSON object.", reason: "answered" };
    case "json_schema": {
      const { name, description, schema } = response_format.json_schema as z.infer<typeof jsonForm>;
      return {
        schema: { type: "object", ...schema },
        purpose: purposeOf("JSON", name ?? "answer", description),
        reason: "answered",
      };
    }
    default:
      return undefined;
  }
}

function callForm(tools: readonly DescribedTool[], name: string | undefined): AnswerForm {
  const [tool, ...others] = tools.filter((each) => name === undefined || each.name === name);
  if (!tool || others.length > 0) {
    const what =
      name === undefined
        ? '"required" needs exactly one function in tools'
        : `tools has no function ${JSON.stringify(name)}`;
    throw new ClientError("malformed", `tool_choice: ${what}.`);
  }
  return {
    schema: { type: "object", ...tool.parameters },
    purpose: purposeOf("input of the function", tool.name, tool.description),
    tool: tool.name,
    reason: name === undefined ? "calls" : "answered",
  };
}

function purposeOf(what: string, name: string, description: string | null | undefined): string {
  return `The result is the ${what} ${JSON.stringify(name)}${description ? `: ${description}` : "."}`;
}
