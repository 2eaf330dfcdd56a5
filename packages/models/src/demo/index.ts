export { type DemoOptions, demoModel } from "./model.ts";
