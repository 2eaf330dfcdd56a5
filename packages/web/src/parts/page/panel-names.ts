import { t } from "../phrases/phrases.ts";

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

export type PanelName = keyof typeof PANELS;

export function isPanel(name: string | null): name is PanelName {
  return name !== null && Object.hasOwn(PANELS, name);
}
