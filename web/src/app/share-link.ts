/** A link to a view, and what somebody else needs to open it. Pure. */

/** What is said when a link was copied. */
export interface LinkNotice {
  readonly tone: "info" | "warning";
  readonly title: string;
  readonly text: string;
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** The address of a view; with the token of the server that serves the page, so that it opens in other tabs and for others. */
export function sharedLink(address: URL, token: string | null): string {
  const link = new URL(address);
  if (token !== null) link.searchParams.set("token", token);
  return link.href;
}

/** What the link needs, and whom it lets in. */
export function linkNotice(address: URL, of: { readonly hasToken: boolean; readonly isLocal: boolean }): LinkNotice {
  if (of.hasToken) {
    const secret = "Anyone with the link can read the data while parallax open is running: treat it like a password.";
    const reach = LOOPBACK.has(address.hostname)
      ? `To open it on another computer, create a tunnel there first: ssh -L ${address.port}:${address.hostname}:${address.port} and the name of this computer.`
      : "The computer that opens it must be able to reach this address.";
    return { tone: "warning", title: "Link with the access token copied", text: `${secret} ${reach}` };
  }
  if (of.isLocal) return { tone: "info", title: "Link copied", text: "The link contains the view, not the data: its recipient must open the same files." };
  return { tone: "info", title: "Link copied", text: "" };
}
