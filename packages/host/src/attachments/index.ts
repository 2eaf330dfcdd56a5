export { type Attached, type Attachments, type AttachOptions, attach } from "./attach.ts";
export { type Reference, referencesIn } from "./references.ts";
