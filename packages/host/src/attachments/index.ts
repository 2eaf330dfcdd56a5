export { type Attached, type Attachments, type AttachOptions, attach, type Reference, referencesIn } from "./attach.ts";
