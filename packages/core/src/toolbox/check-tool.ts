import { kindProblem } from "../conversation/option-names.ts";
import { TOOL } from "../ports/define-tool.ts";
import type { Tool } from "../ports/tool.ts";
import { ToolDefinitionError } from "./toolbox.ts";
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
  if (!/^[\w-]{1,64}$/.test(tool.name)) {
    throw new ToolDefinitionError(`"${tool.name}" cannot name a tool: use 1 to 64 letters, digits, "_" and "-".`);
  }
  if (typeof tool.execute !== "function") {
    throw new ToolDefinitionError(`The tool "${tool.name}" needs an execute function.`);
  }
  if (!["none", "idempotent", "external"].includes(tool.effects)) {
    throw new ToolDefinitionError(
      `The tool "${tool.name}" must declare its effects: "none", "idempotent" or "external".`,
    );
  }
  if (typeof tool.input !== "object" || tool.input === null) {
    throw new ToolDefinitionError(
      `The tool "${tool.name}" needs an input schema: a JSON Schema of an object, or a Standard Schema.`,
    );
  }
  if (tool.timeout !== undefined && !(tool.timeout > 0)) {
    throw new ToolDefinitionError(
      `The timeout of tool "${tool.name}" is ${tool.timeout}; it must be a positive number of milliseconds.`,
    );
  }
  if (tool.maxOutput !== undefined && !(tool.maxOutput > 0)) {
    throw new ToolDefinitionError(
      `The maxOutput of tool "${tool.name}" is ${tool.maxOutput}; it must be a positive number of bytes.`,
    );
  }
  if (tool.files !== undefined && !["read", "write"].includes(tool.files)) {
    throw new ToolDefinitionError(
      `The tool "${tool.name}" has the option files: ${JSON.stringify(tool.files)}. Use "read" or "write", or leave the option out.`,
    );
  }
  if (tool.eager && tool.effects !== "none") {
    throw new ToolDefinitionError(
      `The tool "${tool.name}" is eager and has effects. Only a tool without effects may begin early.`,
    );
  }
  const problem = "~standard" in tool.input ? undefined : schemaProblem(tool.input);
  if (problem !== undefined) {
    throw new ToolDefinitionError(`The input schema of tool "${tool.name}" cannot be used: ${problem}.`);
  }
}
