import type { PlanStep } from "../../conversation/message.ts";
import { planHeadline } from "../../conversation/shown/shown-plan.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { Tool } from "../../ports/tool.ts";

/** Users do not read a longer plan. */
const MOST_STEPS = 100;
const LONGEST_TITLE = 500;

interface PlanInput {
  readonly steps: readonly PlanStep[];
  readonly hand_in?: boolean;
}

/**
 * Makes the tool `update_plan {steps, hand_in?}`, which shows the whole plan as steps with their status. With
 * `hand_in`, the model hands the plan in. A user then decides whether the agent carries out the plan, if the approval
 * rules demand that decision.
 * @example new Agent({ model, tools: [updatePlan()] });
 */
export function updatePlan(): Tool {
  return defineTool({
    name: "update_plan",
    description:
      "Shows your plan to the user, for work of three steps or more. Call it again, with all steps, when a step begins or ends. With hand_in, the user decides whether the plan is carried out: use it if asked for a plan only, or if approval mode 'plan' refuses changes.",
    input: {
      type: "object",
      properties: {
        steps: {
          type: "array",
          minItems: 1,
          maxItems: MOST_STEPS,
          items: {
            type: "object",
            properties: {
              title: { type: "string", maxLength: LONGEST_TITLE },
              status: { type: "string", enum: ["pending", "in_progress", "completed"] },
            },
            required: ["title", "status"],
          },
        },
        hand_in: { type: "boolean" },
      },
      required: ["steps"],
      additionalProperties: false,
    },
    effects: "idempotent",
    control: true,
    about(input) {
      const { steps, hand_in = false } = input as PlanInput;
      return { title: planHeadline(steps), plan: steps, ...(hand_in && { handsIn: true }) };
    },
    execute(input: unknown) {
      const { steps, hand_in = false } = input as PlanInput;
      const empty = steps.findIndex(({ title }) => title.trim() === "");
      if (empty >= 0) throw new Error(`Step ${empty + 1} has no title. Describe the step.`);
      if (hand_in) return "You may carry out the plan now. Update the plan as you work.";
      return `The plan is saved: ${planHeadline(steps)}.`;
    },
  });
}
