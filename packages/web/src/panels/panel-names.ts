import type { CommandName } from "@banyan/protocol";
import { t } from "../phrases/phrases.ts";

/** What can stand beside a conversation. */
export const PANELS = {
  branches: t("Branches"),
  map: t("Map"),
  changes: t("Changes"),
  compare: t("Compare"),
  findings: t("Findings"),
  artifact: t("Artifacts"),
  plan: t("Plan"),
  background: t("Background"),
  agents: t("Sub-agents"),
  usage: t("Usage"),
  context: t("Context"),
  memory: t("Memory"),
  hooks: t("Hooks"),
  servers: t("MCP servers"),
  settings: t("Settings"),
} as const;

/** A panel beside a conversation. */
export type PanelName = keyof typeof PANELS;

/** The command without which a panel has nothing to show: who may not does not see it. */
export const PANEL_TAKES: Readonly<Partial<Record<PanelName, CommandName>>> = {
  context: "context.read",
  hooks: "equipment.read",
  servers: "equipment.read",
  settings: "approval.use",
};

/** What an address says of panels: `none` is what somebody closed that would be open otherwise. */
export interface PanelSearch {
  readonly panel?: PanelName | "none";
  /** The end of another branch: the one that is compared, or whose changed files are shown. */
  readonly beside?: string;
}

/** Reads what an address says of panels. */
export function panelSearch({ panel, beside }: Record<string, unknown>): PanelSearch {
  const isPanel = typeof panel === "string" && (panel === "none" || Object.hasOwn(PANELS, panel));
  return {
    ...(isPanel ? { panel: panel as PanelName | "none" } : {}),
    ...(typeof beside === "string" && beside !== "" ? { beside } : {}),
  };
}
