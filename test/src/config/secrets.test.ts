/** Secrets at rest, the history of changes, and backups: over settings in memory, and files. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { backupPath, readBackup, writeBackup } from '../../../src/config/backup.ts';
import { DEFAULTS } from '../../../src/config/options/options.ts';
import { openSecrets, secretBox } from '../../../src/config/secrets.ts';
import { type ConfigSecurity, HISTORY_LENGTH, openConfig, type SharedSettings } from '../../../src/config/store.ts';
import { Secret } from '../../../src/core/secret.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { secrets } from '../../support/secrets.ts';

const newKey = (): string => randomBytes(32).toString('base64');

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-secrets-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function memorySettings(): SharedSettings & { readonly values: Map<string, string> } {
  const values = new Map<string, string>();
  const watchers = new Set<() => void>();
  return {
    values,
    get: async (key) => values.get(key),
    async compareAndSet(key, expected, value) {
      if (values.get(key) !== expected) return false;
      values.set(key, value);
      for (const tell of watchers) tell();
      return true;
    },
    watch(key, changed) {
      const tell = (): void => changed(values.get(key));
      watchers.add(tell);
      return () => watchers.delete(tell);
    },
  };
}

const withKeys = (...keys: readonly string[]): ConfigSecurity & { readonly said: string[] } => {
  const said: string[] = [];
  return { secrets: secretBox(secrets(keys)), unreadable: (option) => said.push(option), foreignKey: () => said.push('foreign'), said };
};

describe('a sealed text', () => {
  const box = secretBox(secrets([newKey()]));

  test.each(['', 'p', 'pässwörd ✓', 'x'.repeat(10_000)])('opens again: %.20s', (text) => {
    const sealed = box.seal('DB_PASSWORD', text);
    expect(box.open('DB_PASSWORD', sealed)).toBe(text);
    if (text.length > 4) expect(sealed).not.toContain(text);
    expect(box.seal('DB_PASSWORD', text)).not.toBe(sealed);
  });

  test('opens for no other option, under no other key, and with no change', () => {
    const sealed = box.seal('DB_PASSWORD', 'secret');
    expect(box.open('LICENSE', sealed)).toBeUndefined();
    expect(secretBox(secrets([newKey()])).open('DB_PASSWORD', sealed)).toBeUndefined();
    const at = sealed.lastIndexOf(':') + 1;
    const bytes = Buffer.from(sealed.slice(at), 'base64url');
    for (const place of bytes.keys()) {
      const other = Buffer.from(bytes);
      other[place] = (other[place] as number) ^ 1;
      expect(box.open('DB_PASSWORD', sealed.slice(0, at) + other.toString('base64url'))).toBeUndefined();
    }
    for (const cut of ['sealed:1:', 'sealed:1:x', sealed.slice(0, at), sealed.slice(0, at + 20)]) {
      expect(box.open('DB_PASSWORD', cut)).toBeUndefined();
    }
  });
});

describe('the key file', () => {
  test('is made once, for this user alone', async () => {
    const [one, other] = [openSecrets([], directory), openSecrets([], directory)];
    expect(other.open('LICENSE', one.seal('LICENSE', 'x'))).toBe('x');
    expect((await stat(join(directory, 'secrets.key'))).mode & 0o777).toBe(0o600);
  });

  test('is not made where SECRETS_KEY is set', async () => {
    openSecrets(secrets([newKey()]), directory);
    await expect(stat(join(directory, 'secrets.key'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.each(['', 'short', 'A'.repeat(44)])('that holds %j is refused, and stays', async (text) => {
    await writeFile(join(directory, 'secrets.key'), text);
    expect(() => openSecrets([], directory)).toThrow(expect.objectContaining({ code: 'config/invalid' }));
    expect(await readFile(join(directory, 'secrets.key'), 'utf8')).toBe(text);
  });
});

describe('the configuration', () => {
  test('keeps no secret in clear text, and shows none in its history', async () => {
    const settings = memorySettings();
    const store = await openConfig({}, settings, withKeys(newKey()));
    await store.update('DB_PASSWORD', 'canary-1', 'ada');
    await store.update('JDBC_URL', 'jdbc:postgresql://h/d?password=canary-2', 'ada');
    await store.update('DB_PASSWORD', '', 'bob');
    expect(store.snapshot().DB_PASSWORD).toBeUndefined();
    await store.update('DB_PASSWORD', 'canary-3');
    expect(store.snapshot().DB_PASSWORD).toEqual(new Secret('canary-3'));
    const history = store.history();
    expect(history).toMatchObject([
      { by: 'ada', option: 'DB_PASSWORD', value: '******', time: expect.stringMatching(/^\d{4}-.*Z$/) },
      { by: 'ada', option: 'JDBC_URL', value: 'jdbc:postgresql://h/d?password=******' },
      { by: 'bob', option: 'DB_PASSWORD', value: '' },
      { by: 'unknown', option: 'DB_PASSWORD', value: '******' },
    ]);
    expect([...settings.values.values()].join()).not.toContain('canary');
    store.close();
  });

  test('keeps the last changes', async () => {
    const store = await openConfig({}, memorySettings(), withKeys(newKey()));
    for (let i = 0; i < HISTORY_LENGTH + 5; i++) await store.update('MAX_REJECTED', String(i));
    expect(store.history().map(({ value }) => value)).toEqual(Array.from({ length: HISTORY_LENGTH }, (_, i) => String(i + 5)));
    expect(store.snapshot().MAX_REJECTED).toBe(HISTORY_LENGTH + 4);
    store.close();
  });

  test('seals what an earlier version has stored in clear text', async () => {
    const settings = memorySettings();
    settings.values.set('config', JSON.stringify({ DB_PASSWORD: 'canary', FRIENDLY_NAME: 'Mill' }));
    const store = await openConfig({}, settings, withKeys(newKey()));
    expect(settings.values.get('config')).not.toContain('canary');
    expect(store.snapshot()).toMatchObject({ DB_PASSWORD: new Secret('canary'), FRIENDLY_NAME: 'Mill' });
    store.close();
  });

  test('changes its key: the new one before the old one, then the new one alone', async () => {
    const settings = memorySettings();
    const [old, next] = [newKey(), newKey()];
    const before = await openConfig({}, settings, withKeys(old));
    await before.update('DB_PASSWORD', 'secret');
    const during = await openConfig({}, settings, withKeys(next, old));
    expect(during.snapshot().DB_PASSWORD).toEqual(new Secret('secret'));
    const after = withKeys(next);
    const alone = await openConfig({}, settings, after);
    expect(alone.snapshot().DB_PASSWORD).toEqual(new Secret('secret'));
    expect(after.said).toEqual([]);
    // A process that still has the old key alone would seal what the others cannot open.
    await expect(before.update('DB_PASSWORD', 'other')).rejects.toMatchObject({
      code: 'config/invalid',
      message: expect.stringContaining('key'),
    });
    await before.update('FRIENDLY_NAME', 'Mill');
    expect(alone.snapshot()).toMatchObject({ DB_PASSWORD: new Secret('secret'), FRIENDLY_NAME: 'Mill' });
    for (const store of [before, during, alone]) store.close();
  });

  test('without its key counts a secret as not set, says so once, and does not destroy it', async () => {
    const settings = memorySettings();
    const key = newKey();
    const store = await openConfig({}, settings, withKeys(key));
    await store.update('DB_PASSWORD', 'secret');
    const security = withKeys(newKey());
    const other = await openConfig({ DB_PASSWORD: new Secret('of the environment') }, settings, security);
    await other.update('FRIENDLY_NAME', 'Mill');
    await other.update('FRIENDLY_NAME', 'Mill 2');
    expect(other.snapshot().DB_PASSWORD).toBeUndefined();
    expect(security.said).toEqual(['DB_PASSWORD', 'foreign']);
    const again = await openConfig({}, settings, withKeys(key));
    expect(again.snapshot()).toMatchObject({ DB_PASSWORD: new Secret('secret'), FRIENDLY_NAME: 'Mill 2' });
    for (const one of [store, other, again]) one.close();
  });
});

describe('a backup', () => {
  const key = newKey();

  /** A fleet with some changes, and its backup at `path`. */
  async function backedUp(path: string): Promise<void> {
    const store = await openConfig({}, memorySettings(), withKeys(key));
    await store.update('FRIENDLY_NAME', 'Mill');
    await store.update('DB_PASSWORD', 'canary');
    expect(await writeBackup(path, store.stored(), { friendlyName: 'Mill' }, USUAL_S3_ACCESS)).toBe(`file://${path}`);
    store.close();
  }

  test('holds secrets sealed, and is restored into a new fleet that has the key', async () => {
    const path = join(directory, 'some', 'where.json');
    await backedUp(path);
    expect(await readFile(path, 'utf8')).not.toContain('canary');
    const changes = (await readBackup(path, USUAL_S3_ACCESS)) ?? {};
    const fresh = await openConfig({}, memorySettings(), withKeys(key));
    expect(await fresh.restore(changes, 'backup')).toBe(true);
    expect(fresh.snapshot()).toMatchObject({ FRIENDLY_NAME: 'Mill', DB_PASSWORD: new Secret('canary') });
    expect(fresh.history()).toMatchObject([
      { by: 'backup', option: 'FRIENDLY_NAME', value: 'Mill' },
      { by: 'backup', option: 'DB_PASSWORD', value: '******' },
    ]);
    fresh.close();
  });

  test('changes nothing in a fleet whose options were changed', async () => {
    const path = join(directory, 'backup.json');
    await backedUp(path);
    const used = await openConfig({}, memorySettings(), withKeys(key));
    await used.update('FRIENDLY_NAME', 'Other');
    expect(await used.restore((await readBackup(path, USUAL_S3_ACCESS)) ?? {}, 'backup')).toBe(false);
    expect(used.snapshot()).toMatchObject({ FRIENDLY_NAME: 'Other', DB_PASSWORD: undefined });
    used.close();
  });

  test('takes the place of an older one, and of no other file', async () => {
    const path = join(directory, 'own.json');
    await backedUp(path);
    await backedUp(path);
    const write = (to: string) => writeBackup(to, {}, {}, USUAL_S3_ACCESS);
    const others = { 'data.csv': 'id,name\n', 'other.json': '{"format":"x"}', 'list.json': '[]', empty: '' };
    for (const [name, text] of Object.entries(others)) {
      await writeFile(join(directory, name), text);
      await expect(write(join(directory, name))).rejects.toMatchObject({
        code: 'config/invalid',
        message: `${join(directory, name)} is not a backup of a configuration, and is not overwritten`,
      });
      expect(await readFile(join(directory, name), 'utf8')).toBe(text);
    }
    await expect(write(directory)).rejects.toMatchObject({ code: 'config/invalid' });
    if (process.platform === 'linux') await expect(write('/dev/null')).rejects.toMatchObject({ code: 'config/invalid' });
  });

  test('that is not there is none', async () => expect(await readBackup(join(directory, 'none.json'), USUAL_S3_ACCESS)).toBeUndefined());

  test.each([
    ['no JSON', '{', /not JSON/],
    ['another document', '{"a":1}', /not a backup/],
    ['null', 'null', /not a backup/],
    ['changes of another shape', JSON.stringify({ format: 'quadmill-configuration', formatVersion: 1, changes: { A: 1 } }), /not a backup/],
    ['a later version', JSON.stringify({ format: 'quadmill-configuration', formatVersion: 2, changes: {} }), /version 2/],
  ])('with %s is refused', async (_, text, said) => {
    const path = join(directory, 'bad.json');
    await writeFile(path, text);
    await expect(readBackup(path, USUAL_S3_ACCESS)).rejects.toMatchObject({ code: 'config/invalid', message: expect.stringMatching(said) });
    await expect(readBackup(path, USUAL_S3_ACCESS)).rejects.toMatchObject({ message: expect.stringContaining(path) });
  });

  test.each([
    [undefined, '/w/data/backup/configuration.json'],
    ['b.json', '/w/b.json'],
    ['/a/b.json', '/a/b.json'],
    ['/a/b/', '/a/b/configuration.json'],
    ['file:///a/b%20c.json', '/a/b c.json'],
    ['s3://bucket', 's3://bucket/configuration.json'],
    ['s3://bucket/a/', 's3://bucket/a/configuration.json'],
    ['s3://bucket/100%.json', 's3://bucket/100%.json'],
  ])('with CONFIG_BACKUP %s is at %s', async (CONFIG_BACKUP, path) => {
    expect(await backupPath({ ...DEFAULTS, DATA_DIR: 'data', CONFIG_BACKUP }, '/w')).toBe(path);
  });

  test('in a directory has a fixed name; other places are refused', async () => {
    expect(await backupPath({ ...DEFAULTS, CONFIG_BACKUP: directory })).toBe(join(directory, 'configuration.json'));
    for (const CONFIG_BACKUP of ['s3://bucket/../key', 's3://', 'https://user:pw@host/x', 'file://host/x']) {
      await expect(backupPath({ ...DEFAULTS, CONFIG_BACKUP })).rejects.toMatchObject({
        code: 'config/invalid',
        message: expect.not.stringContaining('pw'),
      });
    }
  });
});
