import { kindProblem } from "../conversation/option-names.ts";
import { TOOL, ToolDefinitionError, toolProblem } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import { schemaProblem } from "./usable-schema.ts";

/** Checks a tool before its first call. Throws `ToolDefinitionError`. */
export function checkTool(tool: Tool): void {
  if (typeof tool !== "object" || tool === null) {
    throw new ToolDefinitionError(
      `A tool must be an object made by defineTool; the given value has the type ${typeof tool}.`,
    );
  }
  const wrong = kindProblem(typeof tool.name === "string" ? `the tool "${tool.name}"` : "a tool", tool, TOOL);
  if (wrong !== undefined) throw new ToolDefinitionError(wrong);
  const invalid = toolProblem(tool);
  if (invalid !== undefined) throw new ToolDefinitionError(invalid);
  const problem = "~standard" in tool.input ? undefined : schemaProblem(tool.input);
  if (problem !== undefined) {
    throw new ToolDefinitionError(`The input schema of tool "${tool.name}" cannot be used: ${problem}.`);
  }
}
