import { homedir } from "node:os";
import { ConversationDirectory } from "@banyan/host";
import type { ExitCode } from "../exit.ts";
import { listing } from "../output/listing.ts";
import type { ConversationsArguments } from "../subcommands.ts";
import { exportConversation, importConversation } from "./exchange.ts";
import { list } from "./list.ts";
import { remove } from "./remove.ts";
import { search } from "./search.ts";
import { show } from "./show.ts";

/** `banyan conversations`: what is kept on this machine, without a model. */
export function conversations(args: ConversationsArguments): Promise<ExitCode> {
  return listing(async (write) => {
    await using directory = new ConversationDirectory({ env: process.env, home: homedir() });
    switch (args.action) {
      case "list":
        return await list(directory, args, write);
      case "show":
        return await show(directory, args.conversation, write);
      case "search":
        return await search(directory, args, write);
      case "export":
        return await exportConversation(directory, args, write);
      case "import":
        return await importConversation(directory, args.file, write);
      case "remove":
        return await remove(directory, args, write);
    }
  });
}
