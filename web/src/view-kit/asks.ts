/** Words that the views of a trace share with the protocol. */

/** What colours stand for. */
export type TimelineBy = "function" | "group";

/** Stands for no key, no parent, no track. */
export const NONE = 0xffff_ffff;
