/**
 * The approval modes, in the order in which clients offer them. A mode runs more calls without a question than the modes
 * before it. `plan`: only calls that read, until a user allows a plan. `ask`: only calls that read. `edits`: also changes
 * of workspace files. `sandbox`: also commands in the sandbox. `all`: all calls.
 * @example const [safest] = approvalModes; // "plan"
 */
export const approvalModes = ["plan", "ask", "edits", "sandbox", "all"] as const;

/** One of `approvalModes`. Deny rules hold in every mode. See {@link approvalModes}. */
export type ApprovalMode = (typeof approvalModes)[number];
