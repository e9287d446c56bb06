/** A follower in a separate process, since a damaged file may end it by a signal: catches up, and prints its graph, or the fault. */
import { readFileSync } from 'node:fs';
import { Fault } from '../../../../../src/core/fault.ts';
import type { FollowOptions } from '../../../../../src/streams/follow/follower.ts';
import { Following } from '../../topics/harness.ts';
import { TopicLog } from '../../topics/topic-log.ts';

/** What the process is given, as a file of JSON. */
export interface DamagedRun {
  /** Of a `Following`. */
  readonly directory: string;
  readonly mapping: string;
  readonly messages: readonly { readonly topic: string; readonly partition: number; readonly key: string; readonly value: string | null }[];
  readonly changesBy: FollowOptions['changesBy'];
}

export type DamagedOutcome =
  | { readonly graph: readonly string[] }
  | { readonly code: string; readonly message: string; readonly hint: string };

const { directory, mapping, messages, changesBy } = JSON.parse(readFileSync(process.argv[2] as string, 'utf8')) as DamagedRun;
const log = new TopicLog();
for (const { topic, ...message } of messages) log.send(topic, message);
const print = (outcome: DamagedOutcome): void => void process.stdout.write(JSON.stringify(outcome));
try {
  print({ graph: await new Following(log, mapping, directory).catchUp({}, log.source(), changesBy) });
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  print({ code: error.code, message: error.message, hint: error.hint ?? '' });
}
