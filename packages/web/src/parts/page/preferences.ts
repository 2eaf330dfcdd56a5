import { useSyncExternalStore } from "react";
import { keepSharedValue, keptValue, listenToStorage } from "../browser/kept-value.ts";
import type { PanelName } from "./panel-names.ts";

/** The user's preferences, stored in the browser for all conversations. */
export interface Preferences {
  readonly theme: "system" | "light" | "dark";
  /** What Enter does while a turn runs. */
  readonly delivery: "steer" | "queue";
  readonly reasoning: "open" | "closed";
  readonly figures: "shown" | "folded";
  readonly code: "wrapped" | "scrolled";
  readonly notify: "on" | "off";
  readonly panel: PanelName | "none";
  /** The earlier state with which the panel "Changes" compares the files. */
  readonly since: "turn" | "conversation" | "git";
}

const DEFAULTS: Preferences = {
  theme: "system",
  delivery: "steer",
  reasoning: "closed",
  figures: "folded",
  code: "scrolled",
  notify: "off",
  panel: "none",
  since: "conversation",
};
const KEY = "preferences";

export function usePreference<Name extends keyof Preferences>(
  name: Name,
): readonly [Preferences[Name], (value: Preferences[Name]) => void] {
  const value = useSyncExternalStore(
    listenToStorage,
    () => preferences()[name],
    () => DEFAULTS[name],
  );
  return [value, (chosen) => prefer({ [name]: chosen })];
}

/** Returns true if the page is dark, by the user's preference or else the system's. */
export function useIsDark(): boolean {
  const [theme] = usePreference("theme");
  const isSystemDark = useMedia("(prefers-color-scheme: dark)");
  return theme === "system" ? isSystemDark : theme === "dark";
}

/** Applies the preferred theme, also after a change in another window. */
export function applyTheme(): void {
  const apply = () => {
    const { theme } = preferences();
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  apply();
  listenToStorage(apply);
}

function preferences(): Preferences {
  return { ...DEFAULTS, ...(keptValue(KEY) as Partial<Preferences> | undefined) };
}

function prefer(change: Partial<Preferences>): void {
  keepSharedValue(KEY, { ...preferences(), ...change });
}

export function useIsTouch(): boolean {
  return useMedia("(hover: none) and (pointer: coarse)");
}

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = window.matchMedia(query);
      media.addEventListener("change", changed);
      return () => media.removeEventListener("change", changed);
    },
    () => window.matchMedia(query).matches,
    () => false,
  );
}
