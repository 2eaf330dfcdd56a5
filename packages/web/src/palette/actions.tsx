import type { CommandName } from "@banyan/protocol";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";
import { useMay } from "../use-may.ts";

/** Something that a person can do here, by its name in the palette and by its keys. */
export interface Action {
  /** One without a name is only written, with a slash. */
  readonly name?: string;
  /** As in `Mod+K` (Mod: Ctrl, or Cmd on a Mac), or `Alt+B`. */
  readonly keys?: string;
  /** The command that it takes: who may not is not offered it. */
  readonly takes?: CommandName;
  /** The name by which it can be written in the message box (W65). */
  readonly slash?: string;
  /** Does it, with what stands behind its name; may answer a sentence that the person is told, and reject. */
  readonly run: (argument?: string) => unknown;
}

/** What can be done where the page stands now: each part of it adds what it can do while it is shown. */
class Actions {
  readonly #parts = new Map<object, readonly Action[]>();

  /** What the innermost part of the page adds comes first. */
  get all(): readonly Action[] {
    return [...this.#parts.values()].reverse().flat();
  }

  set(part: object, actions: readonly Action[]): void {
    this.#parts.set(part, actions);
  }

  remove(part: object): void {
    this.#parts.delete(part);
  }
}

const Context = createContext<Actions | undefined>(undefined);

/** Where the parts of the page below put what can be done. */
export function ActionsProvider({ children }: { readonly children: ReactNode }) {
  const [actions] = useState(() => new Actions());
  return <Context value={actions}>{children}</Context>;
}

/** What can be done, as it is when it is asked. */
export function useAllActions(): () => readonly Action[] {
  const actions = useContext(Context);
  return useMemo(() => () => actions?.all ?? [], [actions]);
}

/** Adds what a part of the page can do, for as long as it is shown. */
export function useActions(actions: readonly Action[]): void {
  const all = useContext(Context);
  const may = useMay();
  const part = useRef({});
  useEffect(() =>
    all?.set(
      part.current,
      actions.filter(({ takes }) => takes === undefined || may(takes)),
    ),
  );
  useEffect(() => {
    const mine = part.current;
    return () => all?.remove(mine);
  }, [all]);
}
