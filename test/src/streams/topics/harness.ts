/** A follower over topics in memory, in a private directory. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import { Dataset } from '../../../../src/datasets/dataset.ts';
import { openFiles } from '../../../../src/datasets/files.ts';
import type { DatasetPlace } from '../../../../src/datasets/run.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import { executeRun } from '../../../../src/run/run.ts';
import { USUAL_S3_ACCESS } from '../../../../src/storage/s3-access.ts';
import type { RejectedMessage } from '../../../../src/streams/events.ts';
import { type EpochReport, type FollowOptions, follow } from '../../../../src/streams/follow/follower.ts';
import type { TopicLog } from './topic-log.ts';

export const HEAD = `@prefix rml: <http://w3id.org/rml/> . @prefix td: <https://www.w3.org/2019/wot/td#> . @prefix hctl: <https://www.w3.org/2019/wot/hypermedia#> .
@prefix qms: <http://w3id.org/quadmill/source#> . @prefix csvw: <http://www.w3.org/ns/csvw#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ex: <http://e.org/> .
`;

/** A source for a topic of this type. */
export const topic = (name: string, type?: string, more = ''): string =>
  `[ a td:Thing ; td:hasForm [ hctl:hasTarget "kafka://localhost:9092/${name}"${type === undefined ? '' : ` ; hctl:forContentType "${type}"`} ]${more} ]`;

export class Following {
  readonly directory: string;
  readonly log: TopicLog;
  readonly warnings: string[] = [];
  readonly rejected: RejectedMessage[] = [];
  readonly epochs: EpochReport[] = [];

  constructor(log: TopicLog, mapping: string, directory = mkdtempSync(join(tmpdir(), 'quadmill-topics-'))) {
    this.log = log;
    this.directory = directory;
    this.map(mapping);
  }

  map(mapping: string): void {
    writeFileSync(join(this.directory, 'mapping.ttl'), HEAD + mapping);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.directory, name), text);
  }

  get place(): DatasetPlace {
    return {
      files: openFiles(join(this.directory, 'dataset'), this.directory, USUAL_S3_ACCESS),
      stateDirectory: join(this.directory, 'state'),
    };
  }

  request(more: Partial<RunRequest> = {}): RunRequest {
    const { directory } = this;
    return {
      ...RUN_DEFAULTS,
      runId: 'run',
      inputs: [],
      mappings: ['mapping.ttl'],
      workingDirectory: directory,
      spillDirectory: directory,
      ...more,
    } as RunRequest;
  }

  /** Follows until all is read. */
  async catchUp(
    more: Partial<RunRequest> = {},
    source = this.log.source(),
    changesBy: FollowOptions['changesBy'] = undefined,
  ): Promise<readonly string[]> {
    await follow(
      {
        place: this.place,
        request: this.request(more),
        source,
        epochSeconds: 5,
        epochRecords: 10_000,
        untilCaughtUp: true,
        retain: 0,
        firstWaitMs: 1,
        changesBy,
      },
      {
        stop: new AbortController().signal,
        epoch: (report) => void this.epochs.push(report),
        warn: (text) => void this.warnings.push(text),
        rejected: (message) => void this.rejected.push(message),
      },
    );
    return this.graph();
  }

  /** Statements of the newest version, sorted. */
  async graph(): Promise<readonly string[]> {
    const dataset = await Dataset.open(this.place.files);
    let text = '';
    for await (const lines of dataset.graph(dataset.current, undefined, { directory: this.directory, memoryBudgetBytes: 2 ** 20 }))
      text += lines;
    return fromBytes(text).split('\n').slice(0, -1).sort();
  }

  /** A run over files, of another mapping. */
  async run(mapping: string): Promise<readonly string[]> {
    writeFileSync(join(this.directory, 'files.ttl'), HEAD + mapping);
    let text = '';
    const sink = {
      write: async (lines: string) => void (text += lines),
      writeBytes: async (buffers: readonly Uint8Array[]) => void (text += Buffer.concat(buffers).toString('latin1')),
      commit: async () => [],
      abort: async () => undefined,
    };
    await executeRun(this.request({ mappings: ['files.ttl'] }), sink as never, {});
    return [...new Set(fromBytes(text).split('\n').slice(0, -1))].sort();
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
