export type { FileFault } from "./json-file.ts";
export { changeSettings, readSettings, type Settings, SettingsError } from "./settings.ts";
