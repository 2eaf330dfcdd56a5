import { dirname } from "node:path";
import type { Tool } from "@banyan/core";
import { protectedPart } from "@banyan/tools/workspace";
import { fitsEvery, fitsSome, fromRoot, literalGlob, placeOf } from "./place.ts";
import { isAboutReading } from "./reading.ts";
import { formatRule, isAbout } from "./rule.ts";
import type { Subject, Surroundings } from "./subject.ts";

/** The tools that write the file they are given. */
export const WRITERS: ReadonlySet<string> = new Set(["write", "edit", "edit_mode"]);

/** A call whose main argument is a path. */
export function pathSubject(tool: Tool, path: string, { scope, writes }: Surroundings): Subject {
  const place = placeOf(scope, path);
  // What a program obeys by itself is asked about even where writing is not.
  const obeyed = place.forms.some((form) => protectedPart(fromRoot(scope, form) ?? form) !== undefined);
  const free = place.inside && (tool.effects === "none" || (writes && WRITERS.has(tool.name) && !obeyed));
  return {
    matches(rule) {
      if (!isAbout(rule, tool.name) && !isAboutReading(rule, tool.name)) return "no";
      const { pattern } = rule;
      return pattern === undefined || fitsSome(pattern, scope, place) ? "yes" : "no";
    },
    allowed(rules) {
      return (
        free ||
        rules.some(
          (rule) =>
            isAbout(rule, tool.name) && (rule.pattern === undefined || fitsEvery(rule.pattern, scope, place, true)),
        )
      );
    },
    suggestion() {
      const [plain = path] = place.forms;
      const names = new Set(place.forms.map((form) => fromRoot(scope, form)));
      const [inside] = names;
      // Where a link leads elsewhere, no pattern for one of the two paths is enough.
      if (names.size > 1 || (inside === undefined && place.forms.length > 1)) return undefined;
      const folder = inside === undefined ? "." : dirname(inside);
      const pattern = folder === "." ? literalGlob(inside ?? plain) : `${literalGlob(folder)}/**`;
      return formatRule({ tool: tool.name, pattern });
    },
  };
}
