import { formatCount } from "@banyan/core/shown";
import { oneLine } from "../show/plain-text.ts";
import { table } from "../show/table.ts";
import { wrap } from "../show/wrap.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const context: Command<ConversationContext> = {
  name: "context",
  help: "show what the model is sent, part by part, and what each takes of its context",
  anytime: true,
  async run({ sentHere, columns, style, write }) {
    const { parts, size } = await sentHere();
    const total = parts.reduce((sum, { tokens }) => sum + tokens, 0);
    const share = (tokens: number) => (size === undefined ? "" : `${((100 * tokens) / size).toFixed(1)} %`);
    const rows = parts.map(({ kind, source, tokens, isExact }) => [
      kind,
      oneLine(source),
      `${isExact ? "" : "~"}${formatCount(tokens)}`,
      share(tokens),
    ]);
    write(...table([...rows, ["", "all", formatCount(total), share(total)]], 2, columns));
    const of = size === undefined ? "How much the model takes is not known." : `The model takes ${formatCount(size)}.`;
    write(style.dim(wrap(`Tokens; ~ is an estimate. ${of}`, columns)));
    return ASK;
  },
};
