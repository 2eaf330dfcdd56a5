import { dirname } from "node:path";
import type { Tool } from "@banyan/core";
import type { Rule, Subject } from "./match.ts";
import { isExecutedByPrograms, namesObeyedFile } from "./obeyed-file.ts";
import {
  fitsEvery,
  fitsSome,
  literalGlob,
  type PathScope,
  pathFromWorkspace,
  type ResolvedPath,
  resolveNamedPath,
  type SubjectContext,
} from "./place.ts";
import { isAboutReading } from "./reading-rule.ts";
import { changesFiles, formatRule, isAbout } from "./rule.ts";

/** Judges a call on a file or a folder. */
export function pathSubject(tool: Tool, path: string, surroundings: SubjectContext): Subject {
  const { scope, writes } = surroundings;
  const place = (surroundings.place ?? ((named) => resolveNamedPath(scope, named)))(path);
  // Files that programs obey need approval even if writing is free.
  const isWriter = tool.files === "write";
  const obeyed = isWriter && isExecutedByPrograms(scope, place);
  const free = place.inside && (tool.effects === "none" || (writes && isWriter && !obeyed));
  return {
    matches(rule) {
      if (!isAbout(rule, tool) && !isAboutReading(rule, tool) && !isAboutChange(rule, tool)) return "no";
      const { pattern } = rule;
      return pattern === undefined || fitsSome(pattern, scope, place) ? "yes" : "no";
    },
    allowed(rules) {
      return (
        free ||
        rules.some(
          (rule) =>
            isAbout(rule, tool) &&
            (rule.pattern === undefined || (obeyed ? namesObeyedFile : fitsAlsoHidden)(rule.pattern, scope, place)),
        )
      );
    },
    suggestion() {
      const [plain = path] = place.forms;
      const names = new Set(place.forms.map((form) => pathFromWorkspace(scope, form)));
      const [inside] = names;
      // If a link leads elsewhere, a pattern for one of the two paths is not enough.
      if (names.size > 1 || (inside === undefined && place.forms.length > 1)) return undefined;
      const folder = inside === undefined || obeyed ? "." : dirname(inside);
      const pattern = folder === "." ? literalGlob(inside ?? plain) : `${literalGlob(folder)}/**`;
      return formatRule({ tool: tool.name, pattern });
    },
  };
}

/** A deny or ask rule may match a tool because it changes files (S43). */
function isAboutChange(rule: Rule, { files }: Tool): boolean {
  return files === "write" && changesFiles(rule.tool);
}

function fitsAlsoHidden(pattern: string, scope: PathScope, place: ResolvedPath): boolean {
  return fitsEvery(pattern, scope, place, true);
}
