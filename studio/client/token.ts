/** The token of the user. It lives in the tab alone, and goes out as `Authorization`: there is no cookie that another site could use. */

const KEY = 'quadmill-token';

export const readToken = (): string | undefined => sessionStorage.getItem(KEY) ?? undefined;

/** @param token undefined: signs out */
export function keepToken(token: string | undefined): void {
  if (token === undefined) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
}
