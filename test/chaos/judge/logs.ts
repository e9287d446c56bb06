/** Reads the logs of the fleet, line by line. */
import { readFile } from 'node:fs/promises';
import type { FleetProcess, ProcessInstance } from '../fleet/process.ts';

export interface LogLine {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly level: string;
  readonly msg: string;
  readonly run: string | undefined;
  readonly slice: number | undefined;
  readonly attempt: number | undefined;
  readonly service: string | undefined;
}

/** The log of one process instance. */
export interface InstanceLog {
  readonly process: FleetProcess;
  readonly instance: ProcessInstance;
  readonly lines: readonly LogLine[];
  /** Problems: lines of level error, and output that is not JSON, such as warnings of Node or unhandled rejections. */
  readonly errors: readonly string[];
}

export const readLogs = (members: readonly FleetProcess[]): Promise<readonly InstanceLog[]> =>
  Promise.all(members.flatMap((member) => member.instances.map((life) => readLog(member, life))));

async function readLog(member: FleetProcess, life: ProcessInstance): Promise<InstanceLog> {
  const texts = (await readFile(life.log, 'utf8')).split('\n').filter((text) => text !== '');
  const lines = texts
    .filter((text) => text.startsWith('{'))
    .flatMap((text, i, { length }) => parse(text, i === length - 1 && life.killedAt !== undefined));
  // An instance that was never ready may end in any way: the queue was away.
  const complaints = life.url === undefined ? [] : texts.filter((text) => !text.startsWith('{') || text.startsWith('{"level":"error"'));
  return { process: member, instance: life, lines, errors: complaints.map((text) => `${life.log}: ${text}`) };
}

/** `mayBeHalf`: the last line of a killed process may be incomplete. @throws SyntaxError — another line that is not JSON */
function parse(text: string, mayBeHalf: boolean): readonly LogLine[] {
  try {
    const { time, level, msg, run, slice, attempt, service } = JSON.parse(text);
    return [{ at: Date.parse(time), level, msg, run, slice, attempt, service }];
  } catch (error) {
    if (mayBeHalf) return [];
    throw error;
  }
}
