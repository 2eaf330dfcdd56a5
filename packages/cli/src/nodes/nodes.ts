import type { LeasedConversation, NodeEntry, PostgresStore } from "@banyan/store/postgres";
import { type ExitCode, exitCodes } from "../program/exit.ts";
import { reportedProblem, UsageError } from "../program/problem.ts";
import { databaseAt } from "../serve/shared-store.ts";
import { plainLine } from "../show/plain-text.ts";
import type { NodesArguments } from "./arguments.ts";

/** `banyan nodes`: the servers that share a database, with their conversations. */
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
    const text = args.output === "json" ? `${JSON.stringify(all)}\n` : all.flatMap(nodeLines).join("");
    process.stdout.write(text || "No running server uses this database.\n");
    return exitCodes.done;
  } catch (error) {
    const { message, exit } = reportedProblem(error);
    process.stderr.write(`banyan: ${plainLine(message)}\n`);
    return exit;
  } finally {
    await store?.close();
  }
}

function nodeLines(node: NodeEntry & { readonly open?: readonly LeasedConversation[] }): string[] {
  const open = (node.open ?? []).map(({ id, title }) => `  ${plainLine(title === "" ? id : `${id}: ${title}`)}\n`);
  return [`${plainLine(nodeLine(node))}\n`, ...open];
}

function nodeLine({ program, process: id, host, address, machine, lease, conversations }: NodeEntry): string {
  const state = lease > 0 ? "lives" : `gone for ${Math.round(-lease / 1_000)} s`;
  const has = `${conversations} ${conversations === 1 ? "conversation" : "conversations"}`;
  const works = machine === undefined || machine === host ? "" : `, works as machine ${machine}`;
  return `${address ?? "no address"}: ${state}, has ${has} open; ${program} (process ${id} on ${host}${works})`;
}
