export { RestateDriver, type RestateDriverOptions } from "./restate-driver.ts";
export { DriverError, type RestateSetting, readRestate } from "./setting.ts";
