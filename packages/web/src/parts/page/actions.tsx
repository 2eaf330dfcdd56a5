import type { CommandName } from "@banyan/protocol";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";
import { useMay } from "./use-may.ts";

/** An action of the page, by its name in the palette and by its keys. */
export interface PaletteAction {
  /** An action without a name exists only as a slash command. */
  readonly name?: string;
  /** The keys, for example `Mod+K` (Mod: Ctrl, or Cmd on a Mac) or `Alt+B`. */
  readonly keys?: string;
  /** The command that the action sends. Users who may not send the command do not see the action. */
  readonly takes?: CommandName;
  readonly slash?: string;
  /** Runs the action with the text after its name. May return a sentence for the user, and may reject. */
  readonly run: (argument?: string) => unknown;
}

/** The currently available actions: each part of the page adds its own while it is shown. */
class Actions {
  readonly #parts = new Map<object, readonly PaletteAction[]>();

  get all(): readonly PaletteAction[] {
    return [...this.#parts.values()].reverse().flat();
  }

  set(part: object, actions: readonly PaletteAction[]): void {
    this.#parts.set(part, actions);
  }

  remove(part: object): void {
    this.#parts.delete(part);
  }
}

const Context = createContext<Actions | undefined>(undefined);

export function ActionsProvider({ children }: { readonly children: ReactNode }) {
  const [actions] = useState(() => new Actions());
  return <Context value={actions}>{children}</Context>;
}

export function useAllActions(): () => readonly PaletteAction[] {
  const actions = useContext(Context);
  return useMemo(() => () => actions?.all ?? [], [actions]);
}

/** Adds the actions of a part of the page while it is shown. */
export function useActions(actions: readonly PaletteAction[]): void {
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
