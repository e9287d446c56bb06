/** The token of the user. It lives in the tab alone, and goes out as `Authorization`: there is no cookie that another site could use. */

const KEY = 'quadmill-token';

/** Of the window: the service has refused the token of the tab, and a person has signed in again. */
export const TOKEN_ENDED = 'quadmill-token-ended';
export const SIGNED_IN = 'quadmill-signed-in';

export const readToken = (): string | undefined => sessionStorage.getItem(KEY) ?? undefined;

/** @param token undefined: signs out */
export function keepToken(token: string | undefined): void {
  if (token === undefined) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
}
