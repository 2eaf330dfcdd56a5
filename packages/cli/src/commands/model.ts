import type { Host, KnownModel, ProviderStatus } from "@banyan/host";
import { FACTS_HEAD, factsCells } from "../show/model-facts.ts";
import { oneLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import { ASK, type Command } from "./command.ts";

export const model: Command = {
  name: "model",
  takes: "[name]",
  help: "list the models that can be used, or take another; this is kept",
  async run(context, argument) {
    const { host, style } = context;
    if (argument !== "") {
      await host.changeModel(argument);
      await context.modelChanged(argument);
      context.write(`Using ${oneLine(argument)} from the next message on, and in later conversations.`);
      return ASK;
    }
    const current = host.model.name;
    const usable = (await host.listProviders()).filter((provider) => provider.usable);
    const found = await Promise.all(usable.map((provider) => modelsOf(host, provider)));
    const models = found.flat();
    if (!models.some(({ name }) => name === current)) models.unshift({ name: current, reason: "" });
    const rows = models.map(({ name, reason, ...facts }) => [
      `${name === current ? "* " : "  "}${oneLine(name)}`,
      ...factsCells(facts),
      `  ${name === current ? "in use" : oneLine(reason)}`,
    ]);
    const [head = "", ...lines] = table([["  model", ...FACTS_HEAD, ""], ...rows]);
    context.write(style.dim(head), ...lines);
    context.write(style.dim("In and out: US dollars for a million tokens. /model provider/model takes any other one."));
    return ASK;
  },
};

interface Offered extends KnownModel {
  /** Why it can be used. */
  readonly reason: string;
}

/** What a provider offers without being asked for more: the models that its server lists, or its default one. */
async function modelsOf(host: Host, { name, defaultModel, models, reason }: ProviderStatus): Promise<Offered[]> {
  const names = models ?? (defaultModel === undefined ? [] : [defaultModel]);
  const known = await host.listModels(name);
  return names.map((offered) => ({ ...known.find((model) => model.name === offered), name: offered, reason }));
}
