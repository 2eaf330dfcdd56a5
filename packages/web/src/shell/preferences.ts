import { useSyncExternalStore } from "react";
import type { PanelName } from "../panels/panel-names.ts";
import { keep, kept } from "./kept.ts";

/** What a person likes; kept in the browser, for all conversations. */
export interface Preferences {
  readonly theme: "system" | "light" | "dark";
  /** What Enter does while the agent works. */
  readonly delivery: "steer" | "queue";
  /** Whether reasoning stays open when it is finished. */
  readonly reasoning: "open" | "closed";
  /** Whether what each answer took stands below it. */
  readonly figures: "shown" | "folded";
  /** Whether long lines of code go on in the next one. */
  readonly code: "wrapped" | "scrolled";
  /** Whether the system tells what waits and what is done, while one looks elsewhere. */
  readonly notify: "on" | "off";
  /** The panel beside a conversation, where there is room for one. */
  readonly panel: PanelName | "none";
}

const DEFAULTS: Preferences = {
  theme: "system",
  delivery: "steer",
  reasoning: "closed",
  figures: "folded",
  code: "scrolled",
  notify: "off",
  panel: "none",
};
const KEY = "preferences";
/** A page hears of a change in another window as `storage`; of its own it is told by this. */
const CHANGED = "banyan-preferences";

/** One of the preferences, and how it is changed. */
export function usePreference<Name extends keyof Preferences>(
  name: Name,
): readonly [Preferences[Name], (value: Preferences[Name]) => void] {
  const value = useSyncExternalStore(
    listen,
    () => preferences()[name],
    () => DEFAULTS[name],
  );
  return [value, (chosen) => prefer({ [name]: chosen })];
}

/** Whether the page is dark, by what is preferred here or in the system. */
export function useIsDark(): boolean {
  const [theme] = usePreference("theme");
  const isSystemDark = useMedia("(prefers-color-scheme: dark)");
  return theme === "system" ? isSystemDark : theme === "dark";
}

/** Shows the page in the theme that is preferred, also when another window changes it. */
export function applyTheme(): void {
  const apply = () => {
    const { theme } = preferences();
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  apply();
  listen(apply);
}

function preferences(): Preferences {
  return { ...DEFAULTS, ...(kept(KEY) as Partial<Preferences> | undefined) };
}

function prefer(change: Partial<Preferences>): void {
  keep(KEY, { ...preferences(), ...change });
  window.dispatchEvent(new Event(CHANGED));
}

function listen(listener: () => void): () => void {
  window.addEventListener("storage", listener);
  window.addEventListener(CHANGED, listener);
  return () => {
    window.removeEventListener("storage", listener);
    window.removeEventListener(CHANGED, listener);
  };
}

/** Returns whether fingers on a screen are what the device is used with first. */
export function useIsTouch(): boolean {
  return useMedia("(hover: none) and (pointer: coarse)");
}

/** Whether a media query holds now. */
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
