/** Secrets in tests. `expect` compares them by their texts (`jest/equality.js`). */
import { Secret } from '../../src/core/secret.ts';

export const secrets = (texts: readonly string[]): readonly Secret[] => texts.map((text) => new Secret(text));

/** A login with its password as a secret. */
export const secretLogin = <T extends { readonly password: string }>(login: T): Omit<T, 'password'> & { readonly password: Secret } => ({
  ...login,
  password: new Secret(login.password),
});
