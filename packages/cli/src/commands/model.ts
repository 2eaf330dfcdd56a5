import { shortCount } from "@banyan/client/words";
import type { KnownModel } from "@banyan/host";
import { formatDollars } from "../show/model-facts.ts";
import { plainLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import type { PickerItem } from "../terminal/full/views/picker.ts";
import type { ConversationContext, ModelSelection } from "./command.ts";

/** Switches to the model with this name or list number. Without an argument, the user chooses a model. */
export async function useModelNamed(context: ConversationContext, argument: string): Promise<void> {
  if (argument !== "" && !/^\d+$/.test(argument)) return useNamed(context, argument);
  const models = await offered(context.models);
  const chosen = argument === "" ? await askForModel(context, models) : models[Number(argument) - 1]?.name;
  if (chosen !== undefined) await use(context, chosen);
  else if (argument !== "") context.write(`There is no model ${argument} in the list. /model shows the models.`);
}

/** Uses the model with this name, else the model whose name contains it; the user chooses among several. */
async function useNamed(context: ConversationContext, name: string): Promise<void> {
  try {
    await use(context, name);
  } catch (error) {
    if (name.includes("/")) throw error;
    const [, part = name, effort = ""] = /^(.*?)(:\w+)?$/.exec(name) ?? [];
    const known = await offered(context.models);
    const meant = known.filter((model) => model.name.toLowerCase().includes(part.toLowerCase()));
    const [first] = meant;
    if (!first) throw error;
    if (meant.length > 1 && !canPick(context)) {
      context.write(`Several models match: ${meant.map((model) => plainLine(model.name)).join(", ")}.`);
      return;
    }
    const chosen = meant.length === 1 ? first.name : await askForModel(context, meant);
    if (chosen !== undefined) await use(context, `${chosen}${effort}`);
  }
}

/** Uses a model, also for the rest of a live turn. */
async function use({ models, run, write }: ConversationContext, name: string): Promise<void> {
  await models.use(name);
  write(`Using ${plainLine(name)} from the next ${run === undefined ? "message" : "step"} on, ${models.scope}.`);
}

async function askForModel(context: ConversationContext, models: readonly ModelOption[]): Promise<string | undefined> {
  const {
    write,
    screen: { pick, style },
  } = context;
  const selected = context.models.current.name;
  const items = modelItems(models);
  if (canPick(context)) return pick({ title: "Models (dollars per million tokens, context size)", items, selected });
  write(...table(items.map(({ label, help = "" }, index) => [String(index + 1), label, help])));
  write(style.dim("/model with a number or a name chooses one."));
  return undefined;
}

/** A plain terminal asks no question during an answer. */
function canPick({ run, screen: { pickMessage } }: ConversationContext): boolean {
  return pickMessage !== undefined || run === undefined;
}

/** A model, or the user's alias with the model that it names. */
interface ModelOption extends KnownModel {
  readonly alias?: string;
}

function modelItems(models: readonly ModelOption[]): PickerItem<string>[] {
  const facts = table(models.filter(({ alias }) => alias === undefined).map(modelFactCells), 0).values();
  return models.map(({ name, alias }) => {
    const help = alias ?? facts.next().value ?? "";
    return { value: name, label: plainLine(name), help };
  });
}

function modelFactCells({ price, contextSize }: KnownModel): string[] {
  return [
    price ? `${formatDollars(price.input)} in` : "price unknown",
    price ? `${formatDollars(price.output)} out` : "",
    contextSize === undefined ? "" : shortCount(contextSize),
  ];
}

/**
 * The models to choose from: the current one, then all known models of the available providers, then the user's
 * aliases. An alias for an unavailable model comes with the reason.
 */
async function offered(here: ModelSelection): Promise<ModelOption[]> {
  const providers = await here.listProviders();
  const usable = providers.filter((provider) => provider.usable);
  const models = (await Promise.all(usable.map((provider) => modelsOf(here, provider)))).flat();
  const current = models.find(({ name }) => name === here.current.name) ?? here.current;
  const aliases = Object.entries(here.aliases ?? {}).map(([name, model]): ModelOption => {
    const provider = providers.find((each) => model.startsWith(`${each.name}/`));
    const reason = provider?.reason ?? "There is no such provider.";
    return { name, alias: provider?.usable ? `for ${plainLine(model)}` : `cannot be used: ${plainLine(reason)}` };
  });
  return [
    current,
    ...models.filter((each) => each !== current),
    ...aliases.filter(({ name }) => name !== current.name),
  ];
}

/** Models that the provider's server lists, or those of the catalogue if it does not. The default model comes first. */
async function modelsOf(
  here: ModelSelection,
  { name, defaultModel, models, price }: Awaited<ReturnType<ModelSelection["listProviders"]>>[number],
): Promise<KnownModel[]> {
  const known = await here.listModels(name);
  const names = models ?? known.map((model) => model.name);
  const first = names.filter((offered) => offered === defaultModel);
  const listed = [...first, ...names.filter((offered) => offered !== defaultModel)];
  return listed.map(
    (offered) => known.find((model) => model.name === offered) ?? { name: offered, ...(price ? { price } : {}) },
  );
}
