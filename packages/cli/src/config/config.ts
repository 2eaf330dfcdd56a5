import { homedir } from "node:os";
import { type ConfigurationOptions, projectOf, TrustRecord } from "@banyan/host";
import type { ExitCode } from "../exit.ts";
import { listing } from "../output/listing.ts";
import type { ConfigArguments } from "../subcommands.ts";
import { change } from "./change.ts";
import { check } from "./check.ts";
import { get } from "./get.ts";
import { path } from "./path.ts";

/** `banyan config`: settings, as they count in this directory. */
export function config(args: ConfigArguments): Promise<ExitCode> {
  return listing(async (write, warn) => {
    const place = { env: process.env, home: homedir() };
    switch (args.action) {
      case "get":
        return get(trustedOnly(place), args, write, warn);
      case "set":
      case "unset":
        return change(place, args, write);
      case "path":
        return path(place, write);
      case "check":
        return check(place, write);
    }
  });
}

/** What a project sets counts when it is trusted, as in a chat. */
function trustedOnly(place: ConfigurationOptions): ConfigurationOptions {
  const { state } = new TrustRecord(place).trustOf(".");
  return state === "trusted" ? { ...place, project: projectOf(".") } : place;
}
