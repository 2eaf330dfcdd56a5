import { pathTo } from "@banyan/core";
import { planHeadline, planOn, shownPlan } from "@banyan/core/shown";
import { wrap } from "../show/fit-text.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const plan: Command<ConversationContext> = {
  name: "plan",
  also: ["todos"],
  help: "show all of the agent's plan on this branch",
  anytime: true,
  run({ state, leaf, columns, style, write }) {
    const steps = planOn(pathTo(state, leaf));
    if (!steps) {
      write("There is no plan on this branch.");
      return ASK;
    }
    write(style.dim(`Plan: ${planHeadline(steps)}`));
    for (const { mark, text, status } of shownPlan(steps)) {
      const lines = wrap(`    ${mark} ${text}`, columns).split("\n");
      write(...(status === "in_progress" ? lines.map(style.bold) : lines));
    }
    return ASK;
  },
};
