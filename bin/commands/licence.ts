/** `quadmill licence`: makes licences, for the owner of a private key, and shows them. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createLicence, licenceObject, licenceOf } from '../../src/config/licence.ts';
import type { Snapshot } from '../../src/config/options/options.ts';
import { parseOption } from '../../src/config/parse.ts';
import { Fault } from '../../src/core/fault.ts';
import { writeAtomically } from '../../src/storage/local/file.ts';
import { type Command, commandOf, type Parsed, UsageError } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { printData } from '../terminal.ts';

const LICENCE: Command = {
  name: 'licence',
  usage: 'licence create|show [options]',
  summary: 'Makes a licence with the private key of the licensor, or shows the licence that LICENSE holds.',
  options: {
    key: { value: 'FILE', summary: 'create: the private key, Ed25519 in PEM form' },
    name: { value: 'NAME', summary: 'create: whom it is for' },
    company: { value: 'NAME', summary: 'create: the company of that person' },
    email: { value: 'ADDRESS', summary: 'create: the address of that person' },
    from: { value: 'DATE', summary: 'create: the first day in UTC, such as 2027-01-31; default today' },
    expires: { value: 'DATE', summary: 'create: the last day' },
    id: { value: 'ID', summary: 'create: the identifier; default a random UUID' },
    output: { short: 'o', value: 'FILE', summary: 'create: default standard output' },
    licence: { value: 'FILE', summary: 'show: a file with the licence; default the variable LICENSE' },
    'public-key': { value: 'FILE', summary: 'show: the public key of the licensor; default the variable LICENSE_PUBLIC_KEY' },
  },
  notes: `Exit codes: 0 made, or shown and valid; 1 not valid; 2 the command line is wrong.

  openssl genpkey -algorithm ed25519 -out private.pem
  openssl pkey -in private.pem -pubout -out public.pem
  quadmill licence create --key private.pem --name 'Ada Lovelace' --company 'Example Ltd' --email ada@example.org --expires 2027-12-31 -o licence.txt
  quadmill licence show --licence licence.txt --public-key public.pem
  LICENSE=$(cat licence.txt) LICENSE_PUBLIC_KEY=$(cat public.pem) quadmill serve`,
};

export const licence = commandOf(LICENCE, async (parsed) => {
  const [action, ...rest] = parsed.positionals;
  if (rest.length > 0 || (action !== 'create' && action !== 'show')) throw new UsageError('licence is followed by create or show');
  return action === 'create' ? create(parsed) : show(parsed);
});

async function create(parsed: Parsed): Promise<number> {
  const needed = (name: string): string => {
    const value = parsed.value(name);
    if (value === undefined) throw new UsageError(`licence create needs --${name}`);
    return value;
  };
  const given = {
    id: parsed.value('id'),
    name: needed('name'),
    company: needed('company'),
    email: needed('email'),
    notBefore: parsed.value('from') ?? new Date().toISOString().slice(0, 10),
    expires: needed('expires'),
  };
  const text = `${createLicence(given, privateKeyOf(await read(needed('key')), needed('key')))}\n`;
  const output = parsed.value('output');
  if (output === undefined) printData(text);
  else await writeAtomically(resolve(output), text);
  return EXIT.done;
}

async function show(parsed: Parsed): Promise<number> {
  const option = async <N extends 'LICENSE' | 'LICENSE_PUBLIC_KEY'>(file: string, name: N): Promise<Snapshot[N] | undefined> => {
    const path = parsed.value(file);
    const text = path === undefined ? process.env[name] : await read(path);
    return text === undefined ? undefined : parseOption(name, text);
  };
  const options = { LICENSE: await option('licence', 'LICENSE'), LICENSE_PUBLIC_KEY: await option('public-key', 'LICENSE_PUBLIC_KEY') };
  const now = Date.now();
  const found = licenceOf(options, now);
  printData(`${JSON.stringify(licenceObject(found, now), null, 2)}\n`);
  return found.status === 'LICENSE_VALID' ? EXIT.done : EXIT.failed;
}

/** @throws Fault config/invalid */
function privateKeyOf(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Fault('config/invalid', `${path} holds no private key in PEM form that can be read without a passphrase`, {
      hint: 'Write one with: openssl genpkey -algorithm ed25519 -out private.pem',
    });
  }
}

/** @throws Fault config/invalid */
async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Fault('config/invalid', `${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
