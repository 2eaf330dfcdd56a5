// One of several servers, in a separate process. The arguments are the address of the shared database, and milliseconds
// between two fragments of the model.
import { defineTool } from "@banyan/core";
import { call, scriptedModel, text } from "@banyan/core/testing";
import { serve } from "@banyan/server";
import { hostOf } from "@banyan/server/testing";
import { postgresStore } from "@banyan/store/postgres";

const [url = "", pace = "0", token = ""] = process.argv.slice(2);

const look = defineTool({
  name: "look",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: async () => "seen",
});
// Each turn: a few words, a call, more words.
const model = scriptedModel(
  ({ messages }) => {
    const words = Array.from({ length: 10 }, (_, index) => `word${index} `);
    return JSON.stringify(messages.at(-1)).includes("seen") ? [text(...words)] : [text(...words), call("look", {})];
  },
  { pace: Number(pace) },
);
const store = postgresStore(url);
const { host } = hostOf(store, { model, tools: [look], permission: () => ({ decision: "allow" }) });
const { address } = await serve({ host, token, port: 0, cluster: { shared: store.shared } });
process.send?.(address);
