import type { CommandValues } from "@banyan/client";
import { errorMessage } from "@banyan/core/shown";
import type { CommandName, Result } from "@banyan/protocol";
import { useEffect, useState } from "react";
import { usePage } from "./page.ts";

interface ServerAnswer<Name extends CommandName> {
  /** The last answer. Stays until the next one arrives. */
  readonly answer?: Result<Name>;
  /** The error of a request after the last answer, as a sentence. */
  readonly problem?: string;
  /** True if the answer belongs to the current input. */
  readonly isCurrent: boolean;
}

/** Sends a command for each new `input` or `version`, and returns the answer. Sends nothing without `input`. */
export function useServerAnswer<Name extends CommandName>(
  name: Name,
  input: CommandValues<Name> | undefined,
  version?: unknown,
): ServerAnswer<Name> {
  const { connection } = usePage();
  const key = JSON.stringify(input);
  const [{ of, ...state }, setState] = useState<Omit<ServerAnswer<Name>, "isCurrent"> & { readonly of?: string }>({});
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` represents the input.
  useEffect(() => {
    if (input === undefined) return;
    let isWanted = true;
    connection.ask(name, input).then(
      (answer) => {
        if (isWanted) setState({ answer, of: key });
      },
      (error: unknown) => {
        if (isWanted) setState((before) => ({ ...before, problem: errorMessage(error) }));
      },
    );
    return () => {
      isWanted = false;
    };
  }, [connection, name, key, version]);
  return { ...state, isCurrent: of === key };
}
