/** The server writes this element into the page that it serves; its content is unused. */
const SERVED = 'meta[name="parallax-server"]';

/** Where the token is kept when it has been taken out of the address, for reloads of this tab. */
const TOKEN = "parallax-token";

/** Whether this page came from `parallax open`. */
export function isServed(): boolean {
  return document.querySelector(SERVED) !== null;
}

/** The token by which the server knows this page: out of the address (a bookmark need not contain it), or the tab's memory. */
export function takeToken(): string {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given === null) return keptToken();
  sessionStorage.setItem(TOKEN, given);
  address.searchParams.delete("token");
  history.replaceState(history.state, "", address);
  return given;
}

/** The token that this tab was opened with; null where the page needs none. */
export function accessToken(): string | null {
  const kept = isServed() ? keptToken() : "";
  return kept === "" ? null : kept;
}

function keptToken(): string {
  return sessionStorage.getItem(TOKEN) ?? "";
}
