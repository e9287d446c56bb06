/**
 * Licences: a JSON Web Signature (RFC 7515, compact form) by an Ed25519 key (RFC 8037), whose payload names the licensee. Without one the
 * community licence holds, which is always valid. A licence is checked against the public keys of `LICENSORS` and of LICENSE_PUBLIC_KEY.
 */
import { createPublicKey, type KeyObject, randomUUID, sign, verify } from 'node:crypto';
import { Fault } from '../core/fault.ts';
import type { Snapshot } from './options/options.ts';

export const PRODUCT = 'Quadmill';

/** Ed25519 public keys, as `publicKeyOf` takes them, of those who issue licences of this build. A distributor of another build adds its key. */
const LICENSORS: readonly string[] = [];

const HEADER_TYPE = 'quadmill-licence+jws';
const DAY_SECONDS = 86_400;

export const LICENCE_STATUSES = ['LICENSE_VALID', 'LICENSE_EXPIRED', 'LICENSE_NOT_YET_VALID', 'LICENSE_INVALID'] as const;

export type LicenceStatus = (typeof LICENCE_STATUSES)[number];

/** What a licence says. Dates are whole days in UTC, as `2026-11-22`, both included. */
export interface LicenceClaims {
  readonly id: string;
  readonly name: string;
  readonly company: string;
  readonly email: string;
  readonly product: string;
  readonly notBefore: string;
  readonly expires: string;
}

export interface Licence {
  readonly status: LicenceStatus;
  /** Absent where the signature does not hold: nothing that such a text says is shown. */
  readonly claims?: LicenceClaims;
  /** Why it is not valid, as a sentence without a full stop. */
  readonly problem?: string;
}

const COMMUNITY: Licence = {
  status: 'LICENSE_VALID',
  claims: {
    id: 'community',
    name: 'Community',
    company: 'none',
    email: 'none',
    product: PRODUCT,
    notBefore: '1970-01-01',
    expires: '9999-12-31',
  },
};

/** The licence that the options give at `now`, in milliseconds. */
export function licenceOf({ LICENSE, LICENSE_PUBLIC_KEY }: Pick<Snapshot, 'LICENSE' | 'LICENSE_PUBLIC_KEY'>, now: number): Licence {
  const text = LICENSE?.reveal().trim() ?? '';
  if (text === '') return COMMUNITY;
  const keys = LICENSE_PUBLIC_KEY === undefined ? LICENSORS : [...LICENSORS, LICENSE_PUBLIC_KEY];
  return readLicence(text, keys.map(publicKeyOf), now);
}

/** @param text PEM, or its base64 line alone. @throws Fault config/invalid — not an Ed25519 public key */
export function publicKeyOf(text: string): KeyObject {
  const base64 = /MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=/.exec(text)?.[0];
  if (base64 !== undefined) return createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
  throw new Fault('config/invalid', 'The public key of the licensor is not an Ed25519 public key in PEM form', {
    hint: 'Write it with: openssl pkey -in PRIVATE.pem -pubout',
  });
}

/** Checks the signature, then the dates. @param now milliseconds */
export function readLicence(text: string, keys: readonly KeyObject[], now: number): Licence {
  const claims = signedClaims(text.trim(), keys);
  if (typeof claims === 'string') return { status: 'LICENSE_INVALID', problem: claims };
  const seconds = now / 1000;
  if (seconds < startOf(claims.notBefore)) {
    return { status: 'LICENSE_NOT_YET_VALID', claims, problem: `The licence ${claims.id} is valid from ${claims.notBefore} on` };
  }
  if (seconds >= endOf(claims.expires)) {
    return { status: 'LICENSE_EXPIRED', claims, problem: `The licence ${claims.id} expired on ${claims.expires}` };
  }
  return { status: 'LICENSE_VALID', claims };
}

/** The claims, or why there are none. */
function signedClaims(text: string, keys: readonly KeyObject[]): LicenceClaims | string {
  const [header, payload, signature, ...rest] = text.split('.');
  const { alg, typ } = jsonOf(header) ?? {};
  if (payload === undefined || signature === undefined || rest.length > 0 || alg !== 'EdDSA' || typ !== HEADER_TYPE) {
    return 'The text is not a licence';
  }
  const signed = Buffer.from(`${header}.${payload}`, 'latin1');
  const bytes = Buffer.from(signature, 'base64url');
  if (!keys.some((key) => verify(null, signed, key, bytes))) {
    return keys.length === 0
      ? 'No public key of a licensor is known: set LICENSE_PUBLIC_KEY'
      : 'The licence was changed after it was signed, or signed with another key';
  }
  const claims = jsonOf(payload);
  if (!isClaims(claims)) return 'The licence lacks a field';
  if (claims.product !== PRODUCT) return `The licence ${claims.id} is for ${claims.product}, not for ${PRODUCT}`;
  return claims;
}

function jsonOf(part: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const CLAIMS = ['id', 'name', 'company', 'email', 'product', 'notBefore', 'expires'] as const;

function isClaims(value: unknown): value is LicenceClaims {
  const claims = (value ?? {}) as Partial<Record<keyof LicenceClaims, unknown>>;
  return CLAIMS.every((name) => typeof claims[name] === 'string') && isDate(claims.notBefore) && isDate(claims.expires);
}

function isDate(value: unknown): boolean {
  const milliseconds = Date.parse(`${String(value)}T00:00:00Z`);
  return Number.isFinite(milliseconds) && new Date(milliseconds).toISOString().startsWith(`${String(value)}T`);
}

const startOf = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 1000;

/** The second after the last one of the day. */
const endOf = (date: string): number => startOf(date) + DAY_SECONDS;

/** Unix time at which the licence ends; 0 for one that is invalid. */
export const expiryOf = ({ claims }: Licence): number => (claims === undefined ? 0 : endOf(claims.expires));

/** The text of a licence. @throws Fault config/invalid — not an Ed25519 private key, an empty field, not a date, dates in the wrong order */
export function createLicence(given: Omit<LicenceClaims, 'id' | 'product'> & { readonly id?: string | undefined }, key: KeyObject): string {
  if (key.type !== 'private' || key.asymmetricKeyType !== 'ed25519') {
    throw new Fault('config/invalid', 'A licence is signed by an Ed25519 private key', {
      hint: 'Write one with: openssl genpkey -algorithm ed25519 -out PRIVATE.pem',
    });
  }
  const claims: LicenceClaims = { ...given, id: given.id ?? randomUUID(), product: PRODUCT };
  for (const name of CLAIMS) if (claims[name].trim() === '') throw new Fault('config/invalid', `The licence has no ${name}`);
  for (const name of ['notBefore', 'expires'] as const) {
    if (!isDate(claims[name])) throw new Fault('config/invalid', `${name} is '${claims[name]}', expected is a date such as 2027-01-31`);
  }
  if (claims.expires < claims.notBefore) {
    throw new Fault('config/invalid', `The licence would expire on ${claims.expires}, before it begins on ${claims.notBefore}`);
  }
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'EdDSA', typ: HEADER_TYPE })}.${encode(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed, 'latin1'), key).toString('base64url')}`;
}

/** The licence object of the specification (Resources, "Licence object"), with the reason where the licence is not valid. */
export function licenceObject(licence: Licence, now: number) {
  const { claims, status, problem } = licence;
  const days = Math.max(0, Math.floor((expiryOf(licence) - now / 1000) / DAY_SECONDS));
  return {
    license: claims === undefined ? '' : `${claims.id}: ${PRODUCT} licence, valid from ${claims.notBefore} to ${claims.expires}`,
    licenseInformation: {
      registeredTo: claims === undefined ? '' : `${claims.name} - ${claims.company} - ${claims.email}`,
      expires: claims === undefined ? '' : `${claims.expires} (${days} ${days === 1 ? 'day' : 'days'} remaining)`,
      productName: PRODUCT,
    },
    validationStatus: status,
    ...(problem === undefined ? {} : { problem }),
  };
}

/** Refuses a run that would begin without a valid licence. @throws Fault licence/invalid */
export function assertLicensed(snapshot: Pick<Snapshot, 'LICENSE' | 'LICENSE_PUBLIC_KEY'>, now: number): void {
  const { problem } = licenceOf(snapshot, now);
  if (problem === undefined) return;
  throw new Fault('licence/invalid', problem, {
    hint: 'Set LICENSE to a valid licence with PUT /updateConfig, or to the empty text for the community licence',
  });
}
