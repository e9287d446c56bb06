/**
 * The process that follows for a worker. It ends with its worker: when the channel between them closes, and by a signal of the worker where the lease is
 * lost. A worker that is suspended cannot do that: the process ends itself then. It publishes a version only after the worker has confirmed the lease, so a process that outlives its worker for a moment publishes nothing.
 */
import { Fault } from '../../src/core/fault.ts';
import { unpackSecrets } from '../../src/core/secret.ts';
import { openFiles } from '../../src/datasets/files.ts';
import type { DatasetReport } from '../../src/datasets/run.ts';
import { makeDirectory } from '../../src/storage/local/directory.ts';
import { feedOf, parseChanges } from '../../src/streams/feeds.ts';
import { follow } from '../../src/streams/follow/follower.ts';
import { followedMapping } from '../../src/streams/follow/mapping.ts';
import { RejectionFile, removeAll } from '../output/output.ts';
import { publishFile } from '../output/publication.ts';
import { MAX_SHOWN } from '../output/publish.ts';
import { versionResult } from '../threads/dataset.ts';
import type { FollowerQuestion, FollowTask, FromFollower, ToFollower } from './messages.ts';

/** How soon a changed mapping is noticed. */
const MAPPING_MS = 10_000;

const stop = new AbortController();
const waiting = new Map<number, { resolve(): void; reject(fault: Fault): void }>();
let questions = 0;

const send = (message: FromFollower): Promise<void> =>
  new Promise((resolve) => {
    process.send?.(message, undefined, undefined, () => resolve());
  });

function ask(question: FollowerQuestion): Promise<void> {
  const id = ++questions;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    void send({ kind: 'ask', id, question });
  });
}

// Its worker decides when it ends, also where a terminal sends signals to both.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
const die = (): void => {
  process.kill(process.pid, 'SIGKILL');
};
process.on('disconnect', die);
/** A worker that is suspended renews no lease, and cannot end this process. */
let lease: NodeJS.Timeout | undefined;
process.on('message', (message: ToFollower) => {
  switch (message.kind) {
    case 'follow':
      void run(unpackSecrets(message.task));
      return;
    case 'renewed':
      clearTimeout(lease);
      lease = setTimeout(die, message.withinMs);
      return;
    case 'stop':
      stop.abort(new Fault('run/cancelled', 'The follower was stopped'));
      return;
    case 'answer': {
      const asked = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.fault === undefined) asked?.resolve();
      else asked?.reject(Fault.from(message.fault));
      return;
    }
  }
});

async function run(task: FollowTask): Promise<void> {
  try {
    await send({ kind: 'ended', reason: await followTask(task) });
  } catch (error) {
    await send({ kind: 'failed', fault: Fault.of(error).toJSON() });
  }
  process.exit();
}

async function followTask({ task, topics, epochSeconds, epochRecords }: FollowTask): Promise<'stopped' | 'changed'> {
  const { dataset, request, output } = task;
  const files = openFiles(dataset.url, request.workingDirectory, request.web.s3);
  const { address, registry, security, trusted } = topics;
  const changes = address === undefined ? undefined : parseChanges(address);
  const source = feedOf(changes, { security, registryUrl: registry, trusted: [...trusted, ...(changes?.brokers ?? [])] });
  const mapping = await followedMapping(request, stop.signal);
  let isChanged = false;
  const look = async (): Promise<void> => {
    const { digest } = await followedMapping(request, stop.signal).catch((error) => {
      // A mapping that has become invalid is another one, too.
      return Fault.of(error).retriable || stop.signal.aborted ? mapping : { digest: undefined };
    });
    if (digest === mapping.digest) return;
    isChanged = true;
    stop.abort(new Fault('run/cancelled', 'The mapping has changed'));
  };
  const timer = setInterval(() => void look(), MAPPING_MS);
  const isKept = request.onError === 'quarantine';
  const tell = (made: DatasetReport, isNew: boolean, rejections?: string): Promise<void> =>
    ask({ kind: 'version', runId: made.manifest.runId, result: { ...versionResult(made, files, first), rejections }, isNew });
  let rejected: RejectionFile | undefined;
  let first: string[] = [];
  try {
    await follow(
      {
        place: { files, stateDirectory: dataset.stateDirectory, name: dataset.name },
        request,
        source,
        epochSeconds,
        epochRecords,
        untilCaughtUp: false,
        retain: dataset.keptVersions ?? 0,
        isLeased: true,
      },
      {
        stop: stop.signal,
        confirm: () => ask({ kind: 'confirm' }),
        begun: (newest) => tell(newest, false),
        rejecting() {
          rejected = isKept ? new RejectionFile(output) : undefined;
          first = [];
          return (rejection) => {
            if (first.length < MAX_SHOWN) first.push(rejection.fault.message);
            if (rejected !== undefined) makeDirectory(output.directory);
            rejected?.add(rejection);
          };
        },
        async epoch({ made }) {
          // All rows are mapped each time: the file has those that are rejected now.
          const rejections = await publishFile(output, rejected?.finish(), `${output.name}.rejected.ndjson`, async () => undefined);
          if (isKept && rejections === undefined) await removeAll(output, output.name);
          rejected = undefined;
          if (made.version > made.previousVersion) await tell(made, true, rejections);
        },
        progress: (progress) => void send({ kind: 'progress', progress }),
        rejected: (message) => ask({ kind: 'rejected', message }),
        retry: (fault, waitMs) => void send({ kind: 'retry', fault: fault.toJSON(), waitMs }),
        warn: (text) => void send({ kind: 'warning', text }),
      },
    );
  } finally {
    clearInterval(timer);
    await rejected?.abort();
  }
  return isChanged ? 'changed' : 'stopped';
}
