/** The files of logical targets, at the places that the mapping names. */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Fault } from '../../src/core/fault.ts';
import { formatOrigin, type LogicalTarget } from '../../src/mapping/model/model.ts';
import { addressOf } from '../../src/run/prepare/documents/inputs.ts';
import type { RunRequest } from '../../src/run/request.ts';
import type { QuadSink, Serialization } from '../../src/sinks/sink.ts';
import { openTargetFile } from '../../src/sinks/target-file.ts';
import { locate } from '../../src/storage/url.ts';
import { refuseOverwritingInputs } from './output.ts';
import { declaredPrefixes } from './prefixes.ts';

export const WITH_PREFIXES: ReadonlySet<Serialization> = new Set<Serialization>(['turtle', 'trig', 'n3', 'rdfxml']);

export class TargetFiles {
  readonly #request: RunRequest;
  readonly #output: string;
  /** By path. */
  readonly #open = new Map<string, { readonly sink: QuadSink; readonly target: LogicalTarget }>();

  /** @param output path of the run's own output */
  constructor(request: RunRequest, output: string) {
    this.#request = request;
    this.#output = output;
  }

  /** @throws Fault request/invalid — a file that the run reads, or writes already; target/refused — not a local file; sink/failed */
  open = async (target: LogicalTarget): Promise<QuadSink> => {
    const { workingDirectory, mappings, inputs } = this.#request;
    const { serialization, encoding, compression } = target;
    const address = addressOf(target, workingDirectory);
    const place = locate(address, workingDirectory);
    if (place.kind === 'file') {
      await refuseOverwritingInputs(place.path, [...mappings, ...inputs.map(({ url }) => url)]);
      const path = await realpath(place.path).catch(() => place.path);
      const other = path === (await realpath(this.#output).catch(() => resolve(this.#output))) ? '-o' : this.#open.get(path)?.target.path;
      if (other !== undefined) {
        throw new Fault('request/invalid', `The logical target ${target.path} and ${other} are one file: ${path}`, {
          place: { mapping: formatOrigin(target.origin) },
          hint: 'Give one of them another name',
        });
      }
      const prefixes = WITH_PREFIXES.has(serialization) ? await declaredPrefixes(this.#request) : undefined;
      const options = { serialization, encoding, compression, prefixes, digest: false, durable: false };
      const sink = await openTargetFile({ ...options, location: address, workingDirectory, attempt: process.pid });
      this.#open.set(path, { sink, target });
      return sink;
    }
    return openTargetFile({ location: address, workingDirectory, serialization, attempt: process.pid });
  };

  /** The files appear. Resolves to their bytes. @throws Fault sink/failed, mapping/invalid — what the serialisation cannot say */
  async commit(): Promise<number> {
    let bytes = 0;
    for (const { sink } of this.#open.values()) for (const part of await sink.commit()) bytes += part.bytes;
    return bytes;
  }

  async abort(): Promise<void> {
    await Promise.allSettled([...this.#open.values()].map(({ sink }) => sink.abort()));
  }
}
