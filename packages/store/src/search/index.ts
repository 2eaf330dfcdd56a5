export { listPage } from "../log/summary.ts";
export { type SearchedLog, searchLogs } from "./search-logs.ts";
