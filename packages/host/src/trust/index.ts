export { type ProjectItem, untrustedContent } from "./project-content.ts";
export { type Trust, TrustRecord } from "./trust-record.ts";
