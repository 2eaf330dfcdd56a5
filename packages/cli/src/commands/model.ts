import { oneLine } from "../show/plain-text.ts";
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
    const usable = await host.usableModels();
    const current = host.model.name;
    const names = [...new Set([current, ...usable.map(({ name }) => name)])];
    const width = Math.max(...names.map((name) => name.length)) + 3;
    for (const name of names) {
      const note = name === current ? "in use" : (usable.find((known) => known.name === name)?.note ?? "");
      context.write(`${name === current ? "* " : "  "}${oneLine(name).padEnd(width)}${style.dim(oneLine(note))}`);
    }
    context.write(style.dim("/model provider/model takes any other one of these providers."));
    return ASK;
  },
};
