/** The content of messages: a valid request, or one that can never become a run. */

import { Random } from '../../support/random.ts';
import type { World } from '../fleet/world.ts';
import type { PlannedRun } from './load.ts';

const POISON: readonly (string | Buffer | null)[] = [
  Buffer.from([0x00, 0xff, 0xfe]),
  '{"inputFileURL":',
  '{"inputFileURL": 5}',
  '[]',
  '',
  null,
  'x'.repeat(20_000),
];

/** Bytes that are not UTF-8 from the first one on. */
function noise(random: Random): Buffer {
  return Buffer.from([0xff, ...Array.from({ length: random.between(1, 2_000) }, () => random.between(0, 255))]);
}

/** The same for all copies of a message. null: a message without value. */
export function bytesOf(run: PlannedRun, world: Pick<World, 'inputUrl' | 'mappingUrl'>): Buffer | null {
  const random = new Random(run.seed);
  if (run.kind === 'poison') {
    const value = random.pick([...POISON, noise(random)]);
    return typeof value === 'string' ? Buffer.from(value) : value;
  }
  const url = world.inputUrl(run);
  return Buffer.from(random.chance(0.5) ? url : JSON.stringify({ inputFileURL: url, mappingURL: world.mappingUrl }));
}
