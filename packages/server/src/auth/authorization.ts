import { OptionError } from "@banyan/core";
import { ID_RULE, isId } from "@banyan/core/conversation";
import { OWNER, type Principal } from "@banyan/desk";
import type { Right } from "@banyan/protocol";

/** The rights, from the least to the most. Each right includes the rights before it. */
const RIGHTS: readonly Right[] = ["show", "watch", "act"];

/**
 * The rights of a request. `true`: everything, in all conversations. `false`: nothing. `user`: only conversations that
 * requests of this user began. `rights`: default all; `["watch"]` lists and reads conversations without changing them,
 * and `["show"]` reads conversations whose ids the client knows. See {@link ServeAgentOptions}.
 */
export type Authorization =
  | boolean
  | { readonly user: string; readonly rights?: readonly Right[] }
  | { readonly rights: readonly Right[]; readonly user?: never };

/**
 * Returns the principal (a client's name and rights) of an authorization; `undefined` if the request is refused. Throws
 * `OptionError` for any other value: a user without a name must not become a user who sees everything.
 */
export function authorizedPrincipal(authorization: Authorization | undefined): Principal | undefined {
  if (authorization === true) return OWNER;
  if (authorization === false || authorization === undefined) return undefined;
  if (
    typeof authorization !== "object" ||
    authorization === null ||
    !("user" in authorization || "rights" in authorization)
  )
    throw new OptionError("`authorize` must return true, false or { user, rights }, with at least one of the two.");
  const { user, rights = RIGHTS } = authorization;
  if ("user" in authorization && !isId(user))
    throw new OptionError(`\`authorize\`: \`user\` must be ${ID_RULE}. Return false to refuse a request.`);
  if (!Array.isArray(rights) || rights.length === 0 || rights.some((right) => !RIGHTS.includes(right)))
    throw new OptionError(
      `\`authorize\`: \`rights\` is a list of "show", "watch" and "act", with at least one of them.`,
    );
  const most = Math.max(...rights.map((right) => RIGHTS.indexOf(right)));
  const name = rights.includes("act") ? "owner" : "guest";
  return { name, rights: RIGHTS.slice(0, most + 1), ...(user !== undefined && { user }) };
}
