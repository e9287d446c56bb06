/**
 * The file of the rows is damaged at random, after random changes. Whatever the damage is, the follower that goes on with it makes the graph that it makes with
 * the whole file, or ends with an error that names the directory and what to do; it never makes another graph, and no signal ends it.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { Random } from '../../../../support/random.ts';
import { Following, topic } from '../../topics/harness.ts';
import { TopicLog } from '../../topics/topic-log.ts';
import type { DamagedOutcome, DamagedRun } from './damaged-follower.ts';

const CHILD = resolve('dist/test/src/streams/follow/state/damaged-follower.js');
const PAGE = 4096;

const SOURCE = `rml:source ${topic('t', 'application/json')} ; qms:changes qms:Upsert`;
/** Records of two iterators that are joined, one of them with a term that the other makes as well. */
const MAPPING = `<#D> rml:logicalSource [ ${SOURCE} ; rml:iterator "$" ] ; rml:subjectMap [ rml:template "http://e.org/d{$.id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:v ; rml:objectMap [ rml:reference "$.v" ] ] ;
  rml:predicateObjectMap [ rml:predicate ex:has ; rml:objectMap [ rml:parentTriplesMap <#I> ; rml:joinCondition [ rml:child "$.id" ; rml:parent "$.id" ] ] ] .
<#I> rml:logicalSource [ ${SOURCE} ; rml:iterator "$.items[*]" ] ; rml:subjectMap [ rml:template "http://e.org/i{$.id}" ] ;
  rml:predicateObjectMap [ rml:predicate ex:v ; rml:objectMap [ rml:reference "$.v" ] ] .`;

type Message = DamagedRun['messages'][number];

function messageOf(random: Random): Message {
  const id = random.between(1, 400);
  const item = (): string => `{"id":${random.between(1, 400)},"v":${random.between(1, 9)}}`;
  const items = Array.from({ length: random.between(0, 2) }, item);
  const filling = random.chance(0.02) ? 'x'.repeat(random.between(2_000, 10_000)) : '';
  const value = random.chance(0.2) ? null : `{"id":${id},"v":"${random.between(1, 9)}${filling}","items":[${items.join()}]}`;
  const key = random.between(1, 500);
  return { topic: 't', partition: key % 3, key: `key ${key}`, value };
}

/** Changes a file, mostly where it has something. @returns what was done */
function damage(random: Random, file: string): string {
  const bytes = readFileSync(file);
  const pages = Math.floor(bytes.length / PAGE);
  const page = (): number => random.between(0, pages - 1);
  const flip = (at: number): void => void (bytes[at] = (bytes[at] as number) ^ (1 << random.between(0, 7)));
  const kind = random.pick(['bit', 'head', 'bytes', 'zeros', 'copy', 'stale', 'cut'] as const);
  const at = page();
  switch (kind) {
    case 'bit': {
      // Of a byte that is not 0: much of a page is empty.
      let place = random.between(0, bytes.length - 1);
      for (let i = 0; i < 1000 && bytes[place] === 0; i++) place = random.between(0, bytes.length - 1);
      flip(place);
      break;
    }
    case 'head':
      flip(at * PAGE + random.between(0, 40));
      break;
    case 'bytes':
      for (let n = random.between(2, 16), from = at * PAGE + random.between(0, PAGE - 20); n > 0; n--) flip(from + n);
      break;
    case 'zeros':
      bytes.fill(0, at * PAGE, (at + random.between(1, 2)) * PAGE);
      break;
    case 'copy':
      bytes.copy(bytes, page() * PAGE, at * PAGE, (at + 1) * PAGE);
      break;
    case 'stale': {
      // The records of a page, and not its head.
      const other = page() * PAGE;
      bytes.copy(bytes, other + 16, at * PAGE + 16, (at + 1) * PAGE);
      break;
    }
    case 'cut':
      writeFileSync(file, bytes.subarray(0, random.chance(0.5) ? at * PAGE : random.between(0, bytes.length - 1)));
      return `${kind} ${at}`;
  }
  writeFileSync(file, bytes);
  return `${kind} ${at}`;
}

/** @param times how often each state is damaged */
export function describeDamage(seed: number, times: number): void {
  test.each(['record', 'output'] as const)(
    `a damaged state makes the right graph or an error: by %s, seed ${seed}`,
    async (changesBy) => {
      const random = new Random(seed);
      const log = new TopicLog();
      const messages: Message[] = [];
      const send = (count: number): void => {
        for (let n = count; n > 0; n--) {
          const message = messageOf(random);
          messages.push(message);
          log.send('t', message);
        }
      };
      const whole = new Following(log, MAPPING);
      const copies = mkdtempSync(join(tmpdir(), 'quadmill-damage-'));
      const outcomes: Record<string, number> = {};
      try {
        for (let round = 0; round < 4; round++) {
          send(round === 0 ? 600 : random.between(1, 40));
          await whole.catchUp({}, log.source(), changesBy === 'output' ? 'output' : undefined);
        }
        const before = join(copies, 'before');
        cpSync(whole.directory, before, { recursive: true });
        send(random.between(1, 30));
        const expected = await whole.catchUp({}, log.source(), changesBy === 'output' ? 'output' : undefined);
        const directory = join(copies, 'damaged');
        const given = join(copies, 'run.json');
        const run: DamagedRun = { directory, mapping: MAPPING, messages, changesBy: changesBy === 'output' ? 'output' : undefined };
        writeFileSync(given, JSON.stringify(run));
        for (let n = 0; n < times; n++) {
          cpSync(before, directory, { recursive: true });
          const done = damage(random, join(directory, 'state/rows/data.mdb'));
          const { status, signal, stdout, stderr } = spawnSync(process.execPath, [CHILD, given], { encoding: 'utf8', timeout: 60_000 });
          expect({ done, signal, status, stderr }).toEqual({ done, signal: null, status: 0, stderr: '' });
          const outcome = JSON.parse(stdout) as DamagedOutcome;
          const isGraph = 'graph' in outcome;
          outcomes[isGraph ? 'graph' : 'fault'] = (outcomes[isGraph ? 'graph' : 'fault'] ?? 0) + 1;
          if (isGraph) expect({ done, graph: outcome.graph }).toEqual({ done, graph: expected });
          else
            expect({ done, ...outcome }).toEqual({
              done,
              code: 'source/refused',
              message: expect.stringContaining(`The rows in ${join(directory, 'state/rows')} are damaged: `),
              hint: expect.stringContaining('Remove that directory'),
            });
          rmSync(directory, { recursive: true });
        }
        // Both are met.
        expect(Object.keys(outcomes).sort()).toEqual(['fault', 'graph']);
      } finally {
        whole.remove();
        rmSync(copies, { recursive: true, force: true });
      }
    },
    600_000,
  );
}
