import { idInAddress, pieceOfAddress } from "@banyan/core/conversation";

// What addresses of the page say of a conversation beside what the router reads of them.

/** The conversation that a path shows, if it shows one. */
export function conversationIn(pathname: string): string | undefined {
  return pathname.startsWith("/c/") ? idInAddress(pathname.slice("/c/".length)) : undefined;
}

/** What stands behind the # of an address that leads to a message. */
export function messageHash(message: string): string {
  return `m-${pieceOfAddress(message)}`;
}

/** The message that an address leads to, if it names one, by what stands behind its #. */
export function messageIn(hash: string): string | undefined {
  return hash.startsWith("m-") ? idInAddress(hash.slice("m-".length)) : undefined;
}

/** How the router puts a conversation into a path, and reads it there. */
export const conversationParams = {
  stringify: ({ conversation }: { readonly conversation: string }) => ({ conversation: pieceOfAddress(conversation) }),
  parse: ({ conversation }: { readonly conversation: string }) => ({
    conversation: idInAddress(encodeURIComponent(conversation)) ?? conversation,
  }),
};
