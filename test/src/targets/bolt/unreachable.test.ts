/** Addresses at which there is no Neo4j, or that are wrong in themselves; `faults.soak.test.ts` has what a real one says. */
import { afterEach, expect, test } from '@jest/globals';
import { boltTarget } from '../../../../src/targets/bolt/bolt.ts';
import type { GraphTarget, TargetAddress } from '../../../../src/targets/target.ts';
import { freePort } from '../../../servers/process/port.ts';
import { addressOf, NAME, SIGNAL, statement } from './trouble.ts';

const opened: GraphTarget[] = [];
afterEach(async () => {
  for (const target of opened.splice(0)) await target.close();
});

async function open(address: Partial<TargetAddress> & { readonly endpoint: string }): Promise<GraphTarget> {
  const target = await boltTarget(addressOf({ connectSeconds: 3, ...address }));
  opened.push(target);
  return target;
}

test('a password in the endpoint is not shown', async () => {
  await expect(open({ endpoint: 'http://neo4j:geheim@localhost/' })).rejects.toMatchObject({
    code: 'config/invalid',
    message: expect.not.stringContaining('geheim'),
  });
});

test.each<[string, () => Promise<{ readonly endpoint: string }>, object]>([
  [
    'nothing listens',
    async () => ({ endpoint: `bolt://127.0.0.1:${await freePort()}` }),
    { code: 'target/unreachable', message: expect.stringContaining('connection refused') },
  ],
  [
    'there is no such host',
    async () => ({ endpoint: 'bolt://no-such-host.invalid:7687' }),
    { code: 'target/unreachable', message: expect.stringContaining('no such host') },
  ],
])('%s', async (_, address, expected) => {
  const target = await open(await address());
  await expect(target.probe(SIGNAL)).rejects.toMatchObject(expected);
  await expect(target.insert([statement('<http://example.org/a>', NAME, '"Ann"')], SIGNAL)).rejects.toMatchObject(expected);
});

test('certificates that cannot be read are a fault of the configuration', async () => {
  await expect(open({ endpoint: 'bolt+s://localhost:7687', ca: '/no/such/file.pem' })).rejects.toMatchObject({ code: 'config/invalid' });
});
