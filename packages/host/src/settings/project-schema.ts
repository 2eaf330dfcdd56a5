import { z } from "zod";
import { permissionEntries } from "../permissions/rule.ts";
import { type SettingName, settingsSchema } from "./schema.ts";

// What a project may set: what makes the agent fit the project, and what makes it more careful. Never who is asked, at
// which address, with which prices; never that less is asked, or that more can be reached.

const {
  $schema,
  model,
  fallbacks,
  titleModel,
  temperature,
  maxTokens,
  instructions,
  compaction,
  agents,
  mcpServers,
  hooks,
  statusLine,
} = settingsSchema.shape;

const NARROW =
  'a rule whose pattern begins with what it is about, as in "shell(npm test*)": a project cannot allow a whole tool';
const { deny, ask } = permissionEntries.shape;
const allow = permissionEntries.shape.allow.unwrap();

const limits = settingsSchema.shape.limits.unwrap().omit({ policy: true });

const shape = {
  $schema,
  model,
  fallbacks,
  titleModel,
  temperature,
  maxTokens,
  approval: z.literal("ask", '"ask": a project cannot lower what is asked').optional(),
  permissions: z
    .strictObject(
      {
        deny,
        ask,
        allow: allow
          .superRefine((rules, context) => {
            for (const [index, rule] of rules.entries())
              if (!isNarrow(rule)) context.addIssue({ code: "custom", path: [index], message: NARROW });
          })
          .optional(),
      },
      "an object with the lists deny, ask and allow",
    )
    .optional(),
  limits: limits.optional(),
  instructions,
  compaction,
  memory: z
    .strictObject(
      { enabled: z.literal(false, "false: a project can only switch memory off").optional() },
      "an object with enabled",
    )
    .optional(),
  agents,
  mcpServers,
  hooks,
  statusLine,
  sandbox: z
    .strictObject(
      { enabled: z.literal("require", '"require": a project cannot open the sandbox').optional() },
      "an object with enabled",
    )
    .optional(),
};

/** The schema of each setting that a project may set. */
export const projectShape: Readonly<Partial<Record<SettingName, z.ZodType>>> = shape;

/** Whether a rule that allows says more than one tool's name, and no wildcard stands at its beginning. */
function isNarrow(rule: string): boolean {
  return /^[\s\w-]*\(\s*[./~]*[\w@-]{2}/.test(rule);
}
