import { z } from "zod";
import { permissionEntries } from "../permissions/rule.ts";
import { type SettingName, settingsSchema } from "./schema.ts";

// A project may set what adapts or restricts the agent. A project cannot set the addresses or prices of models, reduce
// questions, or widen access.

const {
  $schema,
  model,
  fallbacks,
  titleModel,
  temperature,
  topP,
  seed,
  maxTokens,
  instructions,
  compaction,
  agents,
  mcpServers,
  hooks,
  statusLine,
} = settingsSchema.shape;

const NARROW =
  'a rule whose pattern begins with its subject, as in "shell(npm test*)": a project cannot allow a whole tool';
const { deny, ask } = permissionEntries.shape;
const allow = permissionEntries.shape.allow.unwrap();

const limits = settingsSchema.shape.limits.unwrap().omit({ policy: true });

const shape = {
  $schema,
  model,
  fallbacks,
  titleModel,
  temperature,
  topP,
  seed,
  maxTokens,
  approval: z.literal("ask", '"ask": a project cannot reduce questions to the user').optional(),
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

/** Returns whether an allow rule has a pattern that does not begin with a wildcard. */
function isNarrow(rule: string): boolean {
  return /^[\s\w-]*\(\s*[./~]*[\w@-]{2}/.test(rule);
}
