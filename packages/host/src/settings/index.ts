export { changeSetting, changeSettingByText, type SettingsOwner } from "./change.ts";
export {
  type Configuration,
  type ConfigurationOptions,
  checkConfiguration,
  proveRules,
  readConfiguration,
  settingAt,
  settingPlace,
  unknownNamesIn,
  unknownSetting,
  userSettingsFile,
} from "./configuration.ts";
export { type SettingVariable, settingVariables } from "./environment.ts";
export { describeFault, SettingsError, type SettingsFault } from "./fault.ts";
export { replaceJsonFile } from "./json-file.ts";
export { formatKey, type KeyPath, parseKey } from "./key.ts";
export type { LayerName } from "./layer.ts";
export type { SettingEntry } from "./merge.ts";
export { readRuleFile, rememberRule, settingNotices } from "./rule-file.ts";
export { agentsOf, mcpServersOf, type SettingName, type Settings, settingsSchema } from "./schema.ts";
