import type { LeasedConversation, NodeEntry, PostgresStore } from "@banyan/store/postgres";
import { type ExitCode, exitCodes } from "../program/exit.ts";
import { problemOf, UsageError } from "../program/problem.ts";
import { databaseAt } from "../serve/shared-store.ts";
import { oneLine } from "../show/plain-text.ts";
import type { NodesArguments } from "./arguments.ts";

/** `banyan nodes`: the servers of a shared database, with their conversations. */
export async function nodes(args: NodesArguments): Promise<ExitCode> {
  let store: PostgresStore | undefined;
  try {
    const url = args.store ?? (process.env.BANYAN_STORE || undefined);
    if (url === undefined) throw new UsageError("Name the database with --store or BANYAN_STORE.");
    store = await databaseAt(url, { connections: 1 });
    const { shared } = store;
    const nodes = await shared.nodes();
    const all = args.conversations
      ? await Promise.all(nodes.map(async (node) => ({ ...node, open: await shared.openAt(node.id) })))
      : nodes;
    const text = args.output === "json" ? `${JSON.stringify(all)}\n` : all.flatMap(linesOf).join("");
    process.stdout.write(text || "No server shares this database.\n");
    return exitCodes.done;
  } catch (error) {
    const { message, exit } = problemOf(error);
    process.stderr.write(`banyan: ${oneLine(message)}\n`);
    return exit;
  } finally {
    await store?.close();
  }
}

function linesOf(node: NodeEntry & { readonly open?: readonly LeasedConversation[] }): string[] {
  const open = (node.open ?? []).map(({ id, title }) => `  ${oneLine(title === "" ? id : `${id}: ${title}`)}\n`);
  return [`${oneLine(lineOf(node))}\n`, ...open];
}

function lineOf({ program, process: id, host, address, machine, lease, conversations }: NodeEntry): string {
  const state = lease > 0 ? "lives" : `gone for ${Math.round(-lease / 1_000)} s`;
  const has = `${conversations} ${conversations === 1 ? "conversation" : "conversations"}`;
  const works = machine === undefined || machine === host ? "" : `, works as machine ${machine}`;
  return `${address ?? "no address"}: ${state}, has ${has} open; ${program} (process ${id} on ${host}${works})`;
}
