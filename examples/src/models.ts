// Models by name: what a name means, what is known of a model, and which providers can be used. Nothing is sent.
import { listProviders, resolveModel } from "@banyan/models";

const env = { ANTHROPIC_API_KEY: "any", BANYAN_NO_DISCOVERY: "1" };
const options = {
  env,
  aliases: { quick: "anthropic/claude-haiku-4-5:low" },
  overrides: { "anthropic/claude-haiku-4-5": { price: { input: 0.5, output: 2.5 } } },
};

for (const name of ["anthropic/claude-sonnet-5", "sonnet:high", "quick"]) {
  const { id, settings, price } = await resolveModel(name, options);
  console.log(
    `${name}: ${id}, effort ${settings?.effort ?? "as the model likes"}, price known: ${price !== undefined}`,
  );
}
const quick = await resolveModel("quick", options);
console.log(`a million tokens of quick: $${quick.price?.input} in, $${quick.price?.output} out`);

for (const { name, usable, reason } of await listProviders({ env })) {
  if (["anthropic", "groq", "azure"].includes(name))
    console.log(`${name}: ${usable ? "usable" : "not usable"}. ${reason}`);
}
