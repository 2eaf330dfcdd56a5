import { formatTokens, shortCount } from "@banyan/client/words";
import {
  addCost,
  addUsage,
  type Cost,
  type Message,
  noUsage,
  totalTokens,
  type Usage,
} from "@banyan/core/conversation";
import { formatCost } from "@banyan/core/shown";
import { formatPageTime, say, t } from "../parts/phrases/phrases.ts";

export function UsageTables({ messages }: { readonly messages: Iterable<Message> }) {
  const all = [...messages].filter((message) => message.role !== "user" && message.usage !== undefined);
  return (
    <>
      <Table
        name={t("By model")}
        rows={summed(all, (message) => ("model" in message ? message.model : t("Summary")))}
      />
      <Table
        name={t("By day")}
        rows={summed(all, ({ createdAt }) => formatPageTime(createdAt, { dateStyle: "medium" })).toReversed()}
      />
    </>
  );
}

interface Sum {
  readonly name: string;
  readonly usage: Usage;
  readonly cost: Cost;
}

function Table({ name, rows }: { readonly name: string; readonly rows: readonly Sum[] }) {
  return (
    <table className="mx-3 my-2 text-end text-xs">
      <caption className="text-start text-soft">{name}</caption>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name} title={formatTokens(row.usage, say)}>
            <th scope="row" className="break-all text-start font-normal">
              {row.name}
            </th>
            <td className="whitespace-nowrap ps-2">
              {t("{tokens} tokens", { tokens: shortCount(totalTokens(row.usage)) })}
            </td>
            <td className="whitespace-nowrap ps-2">{formatCost(row.cost, say)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function summed(messages: readonly Message[], nameOf: (message: Message) => string): readonly Sum[] {
  const sums = new Map<string, Sum>();
  for (const message of messages) {
    if (message.role === "user") continue;
    const name = nameOf(message);
    const { usage, cost } = sums.get(name) ?? { usage: noUsage, cost: 0 };
    sums.set(name, { name, usage: addUsage(usage, message.usage ?? noUsage), cost: addCost(cost, message.cost) });
  }
  return [...sums.values()];
}
