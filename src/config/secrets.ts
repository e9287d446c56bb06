/**
 * Secret options at rest: AES-256-GCM under the keys of SECRETS_KEY, or under a key file that the first process makes.
 *
 * A sealed text is `sealed:1:KEY-ID:DATA`, with DATA the nonce (12 bytes), the tag (16 bytes) and the ciphertext in base64url. The name of the
 * option is authenticated with it, so a text cannot be moved to another option.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../core/fault.ts';
import { Secret } from '../core/secret.ts';
import { makeDirectory } from '../storage/local/directory.ts';

const PREFIX = 'sealed:1:';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_HINT = 'Make one with: openssl rand -base64 32';

/** Seals under its first key, and opens what any of its keys has sealed. */
export interface SecretBox {
  seal(option: string, text: string): string;
  /** Undefined: sealed under a key that is not here, or changed since. */
  open(option: string, sealed: string): string | undefined;
  /** Whether the text is sealed under the first key. */
  isCurrent(sealed: string): boolean;
  /** Identifiers of its keys, which reveal nothing of the keys; the first one seals. */
  readonly keyIds: readonly string[];
}

export const isSealed = (text: string): boolean => text.startsWith(PREFIX);

/** 32 bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{43}=$/;

/**
 * @param keys values of SECRETS_KEY; empty: the key file
 * @param dataDirectory absolute path; holds the key file `secrets.key`, which is made if it is not there
 * @throws Fault config/invalid — the key file cannot be made or read, or holds no key
 */
export function openSecrets(keys: readonly Secret[], dataDirectory: string): SecretBox {
  return secretBox(keys.length > 0 ? keys : [new Secret(keyOfFile(dataDirectory))]);
}

/** @param keys base64, each 32 bytes, at least one */
export function secretBox(keys: readonly Secret[]): SecretBox {
  const all = keys.map((secret) => {
    const key = Buffer.from(secret.reveal(), 'base64');
    return { key, id: createHash('sha256').update(key).digest('hex').slice(0, 8) };
  });
  const [first] = all as [(typeof all)[number]];
  return {
    seal(option, text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', first.key, nonce).setAAD(Buffer.from(option));
      const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `${PREFIX}${first.id}:${Buffer.concat([nonce, cipher.getAuthTag(), data]).toString('base64url')}`;
    },

    open(option, sealed) {
      const [id, data = ''] = sealed.slice(PREFIX.length).split(':');
      const bytes = Buffer.from(data, 'base64url');
      const found = all.find((one) => one.id === id);
      if (found === undefined || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', found.key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(option)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
      } catch {
        // The tag does not fit: changed, or of another option.
        return undefined;
      }
    },

    keyIds: all.map(({ id }) => id),

    isCurrent: (sealed) => sealed.startsWith(`${PREFIX}${first.id}:`),
  };
}

/** The key in `secrets.key`, made with mode 600 if the file is not there. Of several processes that make it at once, one wins. */
function keyOfFile(dataDirectory: string): string {
  const path = join(dataDirectory, 'secrets.key');
  try {
    makeDirectory(dataDirectory);
    const made = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
    if (readText(path) === undefined) {
      writeFileSync(made, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
      try {
        // A link, unlike a rename, does not replace the key of another process.
        linkSync(made, path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      } finally {
        rmSync(made, { force: true });
      }
    }
    const key = readText(path)?.trim() ?? '';
    if (KEY.test(key)) return key;
  } catch (error) {
    throw new Fault('config/invalid', `The key file ${path} cannot be made or read: ${(error as Error).message}`, {
      hint: `Set SECRETS_KEY. ${KEY_HINT}`,
      cause: error,
    });
  }
  throw new Fault('config/invalid', `The key file ${path} does not hold 32 bytes in base64`, {
    hint: 'Restore it from a backup. Without it, secrets that were set while running are lost: remove the file, and set them again',
  });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
