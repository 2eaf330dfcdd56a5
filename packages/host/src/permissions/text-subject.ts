import type { Json, Tool } from "@banyan/core";
import { covers } from "./match.ts";
import type { Subject } from "./subject.ts";

/** A call of a tool of which nothing is known but its name and its arguments. */
export function textSubject(tool: Tool, input: Json): Subject {
  const texts = textsIn(input);
  return {
    matches({ tool: name, pattern }) {
      if (name !== tool.name) return "no";
      return pattern === undefined || texts.some((text) => covers(pattern, text)) ? "yes" : "no";
    },
    allowed(rules) {
      if (tool.effects === "none") return true;
      return rules.some(
        ({ tool: name, pattern }) =>
          name === tool.name &&
          (pattern === undefined || (texts.length > 0 && texts.every((text) => covers(pattern, text)))),
      );
    },
    suggestion: () => tool.name,
  };
}

/** Every text in the arguments, at any depth. */
function textsIn(input: Json): string[] {
  const texts: string[] = [];
  const ahead: unknown[] = [input];
  for (let value = ahead.pop(); value !== undefined; value = ahead.pop()) {
    if (typeof value === "string") texts.push(value);
    else if (value !== null && typeof value === "object")
      ahead.push(...Object.values(value).filter((item) => item !== undefined));
  }
  return texts;
}
