/** A dataset as others read it: its versions, what they change, and their graphs. */
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { Fault } from '../core/fault.ts';
import { detach } from '../core/text.ts';
import { type ChangedLines, type Folding, netChanges, wholeLines } from './changes.ts';
import type { DatasetFiles } from './files.ts';
import {
  DATASET_NAME,
  type DatasetDescription,
  DESCRIPTION,
  type FileKind,
  FORMAT,
  type Manifest,
  manifestName,
  numberText,
  parseDescription,
  parseManifest,
  VERSIONS,
  versionOfName,
} from './manifest.ts';

/** Of a line in a set, beside its text. */
const LINE_BYTES = 64;

function* linesIn(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at) + 1;
    yield text.slice(at, end);
    at = end;
  }
}

function without(text: string, removed: ReadonlySet<string>): string {
  let left = '';
  for (const line of linesIn(text)) if (!removed.has(line)) left += line;
  return left;
}

export class Dataset {
  readonly files: DatasetFiles;
  readonly description: DatasetDescription;
  /** Those that are there, ascending. */
  #versions: readonly number[];
  readonly #manifests = new Map<number, Manifest>();

  private constructor(files: DatasetFiles, description: DatasetDescription, versions: readonly number[]) {
    this.files = files;
    this.description = description;
    this.#versions = versions;
  }

  /** @throws Fault source/missing — there is no dataset; source/malformed, source/unreadable */
  static async open(files: DatasetFiles): Promise<Dataset> {
    const found = await Dataset.find(files);
    if (found !== undefined) return found;
    throw new Fault('source/missing', `There is no dataset in ${files.url}: it has no ${DESCRIPTION}`, {
      place: { input: files.url },
      hint: 'A run makes it: quadmill run mapping.ttl --dataset DIR',
    });
  }

  /** undefined: there is none. @throws Fault source/malformed, source/unreadable */
  static async find(files: DatasetFiles): Promise<Dataset | undefined> {
    const text = await files.read(DESCRIPTION);
    if (text === undefined) return undefined;
    return new Dataset(files, parseDescription(text, files.urlOf(DESCRIPTION)), await versionsOf(files));
  }

  /** Makes an empty dataset where there is none. @throws Fault request/invalid — files of something else are there */
  static async create(files: DatasetFiles, name: string | undefined): Promise<Dataset> {
    const others = (await files.list('.')).filter((one) => one !== 'state' && !one.startsWith('.'));
    const [other] = others;
    if (other !== undefined) {
      throw new Fault('request/invalid', `${files.url} is not empty and is no dataset: it has ${other}`, {
        hint: 'Name a directory that is empty, or that the first run makes',
      });
    }
    const described: DatasetDescription = { format: FORMAT, name: name ?? nameOf(files.url), id: randomUUID(), currentVersion: 0 };
    await files.write(DESCRIPTION, jsonText(described), true);
    return new Dataset(files, described, []);
  }

  /** 0: no version yet. */
  get current(): number {
    return this.#versions.at(-1) ?? 0;
  }

  /** The versions that can be read, ascending. */
  get versions(): readonly number[] {
    return this.#versions;
  }

  /** @throws Fault request/invalid — there is no such version, or it was folded into a later one */
  async manifest(version: number): Promise<Manifest> {
    const known = this.#manifests.get(version);
    if (known !== undefined) return known;
    this.#check(version);
    const name = manifestName(version);
    const text = await this.files.read(name);
    if (text === undefined)
      throw new Fault('source/missing', `${this.files.urlOf(name)} is missing`, { hint: 'Restore it from a copy of the dataset' });
    const manifest = parseManifest(text, this.files.urlOf(name));
    this.#manifests.set(version, manifest);
    return manifest;
  }

  /**
   * The net changes from a version to the newest one, or to `to`: removed statements first. Blank nodes have their labels.
   *
   * @param target path of a logical target; undefined: the output of the run
   * @throws Fault request/invalid — no such version or target
   */
  async *changes(since: number, target: string | undefined, folding: Folding, to = this.current): AsyncGenerator<ChangedLines> {
    if (since !== 0) this.#check(since);
    if (to !== 0) this.#check(to);
    await this.#checkTarget(target, to);
    const [first = 0] = this.#versions;
    if (since < first && since !== 0) throw this.#folded(since);
    if (to <= since) return;
    const later = this.#versions.filter((version) => version > since && version <= to);
    const [only] = later;
    if (later.length === 1 && only !== undefined) yield* this.#changesOf(only, target, since === 0);
    else yield* netChanges(this.#changesOfAll(later, target, since === 0), folding);
  }

  /**
   * The statements of a version, each once, as pieces of complete lines.
   *
   * **Claim.** They are those of the oldest version but what later ones have removed, and what these have added. **Proof.** The net changes have as
   * removed what the oldest version has and this one has not, and as added what this one has and the oldest one has not.
   *
   * @throws those of `changes`
   */
  async *graph(version: number, target: string | undefined, folding: Folding): AsyncGenerator<string> {
    const [oldest = 0] = this.#versions;
    const whole = (): AsyncGenerator<ChangedLines> => this.changes(0, target, folding, version);
    if (version <= oldest) {
      for await (const { lines } of whole()) yield lines;
      return;
    }
    const removed = new Set<string>();
    let bytes = 0;
    const changes = this.changes(oldest, target, folding, version);
    try {
      let next = await changes.next();
      for (; next.done !== true && next.value.kind === 'removed' && bytes < folding.memoryBudgetBytes / 2; next = await changes.next())
        for (const line of linesIn(next.value.lines)) {
          removed.add(detach(line));
          bytes += line.length + LINE_BYTES;
        }
      const isWhole = next.done !== true && next.value.kind === 'removed';
      if (!isWhole) {
        for await (const { lines } of this.#changesOf(oldest, target, true)) yield removed.size === 0 ? lines : without(lines, removed);
        for (; next.done !== true; next = await changes.next()) yield next.value.lines;
        return;
      }
    } finally {
      await changes.return(undefined);
    }
    // So much has been removed that it does not fit into memory.
    for await (const { lines } of whole()) yield lines;
  }

  async *#changesOfAll(versions: readonly number[], target: string | undefined, isFromEmpty: boolean): AsyncGenerator<ChangedLines> {
    for (const version of versions) yield* this.#changesOf(version, target, isFromEmpty && version === versions[0]);
  }

  /** @param isFromEmpty against the empty graph, not the version before */
  async *#changesOf(version: number, target: string | undefined, isFromEmpty: boolean): AsyncGenerator<ChangedLines> {
    const { previous } = await this.manifest(version);
    if (isFromEmpty && previous !== 0) {
      for await (const lines of this.lines(version, 'base', target)) yield { kind: 'added', lines };
      return;
    }
    for await (const lines of this.lines(version, 'removed', target)) yield { kind: 'removed', lines };
    for await (const lines of this.lines(version, 'added', target)) yield { kind: 'added', lines };
  }

  /** The lines of a file of a version, in pieces. */
  async *lines(version: number, kind: FileKind, target: string | undefined): AsyncGenerator<string> {
    const { files } = await this.manifest(version);
    const file = files.find((one) => one.kind === kind && one.target === target);
    if (file !== undefined) yield* wholeLines(await this.files.open(`${VERSIONS}/${file.name}`));
  }

  /** Reads which versions there are again. */
  async reload(): Promise<void> {
    this.#versions = await versionsOf(this.files);
    this.#manifests.clear();
  }

  #check(version: number): void {
    if (this.#versions.includes(version)) return;
    if (version > 0 && version < (this.#versions[0] ?? 0)) throw this.#folded(version);
    throw new Fault('request/invalid', `The dataset ${this.description.name} has no version ${version}: the newest one is ${this.current}`);
  }

  #folded(version: number): Fault {
    const [first] = this.#versions;
    return new Fault(
      'request/invalid',
      `Version ${version} of the dataset ${this.description.name} was removed: the oldest one that is kept is ${first}`,
      { hint: `Take the graph of a version that is there, and the changes since that: dataset export --version ${first}` },
    );
  }

  /** Whether some version up to `to` has a logical target: it has one from the first statement on. */
  async hasTarget(target: string, to: number): Promise<boolean> {
    return (await this.#targets(to, target)).has(target);
  }

  /** @throws Fault request/invalid — no version up to `to` has the target */
  async #checkTarget(target: string | undefined, to: number): Promise<void> {
    if (target === undefined) return;
    const names = await this.#targets(to, target);
    if (names.has(target)) return;
    throw new Fault('request/invalid', `The dataset ${this.description.name} has no logical target ${target}`, {
      hint: names.size === 0 ? 'Its mapping has none' : `It has ${[...names].join(', ')}`,
    });
  }

  /** The targets of versions up to `to`, from the newest one to one that has `until`. */
  async #targets(to: number, until: string): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    for (const version of this.#versions.filter((one) => one <= to).reverse()) {
      const { targets = {} } = await this.manifest(version);
      for (const name of Object.keys(targets)) names.add(name);
      if (names.has(until)) break;
    }
    return names;
  }
}

async function versionsOf(files: DatasetFiles): Promise<readonly number[]> {
  const versions = (await files.list(VERSIONS)).flatMap((name) => versionOfName(name) ?? []).sort((a, b) => a - b);
  // Versions are removed from the oldest one on. Where that was interrupted, some remain that begin neither with the empty graph nor with a base.
  for (const [at, version] of versions.entries()) {
    const name = manifestName(version);
    const text = await files.read(name);
    if (text === undefined) continue;
    const manifest = parseManifest(text, files.urlOf(name));
    if (manifest.previous === 0 || manifest.files.some(({ kind }) => kind === 'base')) return versions.slice(at);
  }
  return [];
}

export const jsonText = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** The name of a dataset by its address: the last step of it, with other characters than those of names as `-`. */
export function nameOf(url: string): string {
  const last = basename(url.replace(/\/+$/, ''))
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 64);
  return DATASET_NAME.test(last) ? last : 'dataset';
}

/** The names of the files of a version. @param target number of the logical target, from 1; 0: the output of the run @param mark in object storage: tells attempts apart */
export const fileName = (version: number, mark: string, kind: FileKind, target: number): string =>
  `${numberText(version)}${mark}.${kind}${target === 0 ? '' : `.${target}`}.nq.gz`;
