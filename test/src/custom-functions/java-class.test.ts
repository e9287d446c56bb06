/** The class that runs in Java is that of its source. `UPDATE_GOLDEN=1` compiles it, which needs a JDK. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { sha256Of } from '../../../src/custom-functions/files.ts';
import { HOST_CLASS, HOST_SOURCE_SHA256 } from '../../../src/custom-functions/java/host-class.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';

const FOLDER = join(PROJECT_ROOT, 'src', 'custom-functions', 'java');
const SOURCE = join(FOLDER, 'QuadmillFunctions.java');

test('host-class.ts is made of QuadmillFunctions.java', () => {
  const sha256 = sha256Of(readFileSync(SOURCE));
  if (process.env.UPDATE_GOLDEN === '1' && sha256 !== HOST_SOURCE_SHA256) {
    writeFileSync(join(FOLDER, 'host-class.ts'), pageOf(sha256, compile()));
    return;
  }
  expect(HOST_SOURCE_SHA256).toBe(sha256);
  const bytes = Buffer.from(HOST_CLASS, 'base64');
  // The magic number of classes, and the version of Java 11.
  expect([bytes.readUInt32BE(0), bytes.readUInt16BE(6)]).toEqual([0xcafebabe, 55]);
});

function compile(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-host-class-'));
  try {
    execFileSync('javac', ['--release', '11', '-g:lines,source', '-d', directory, SOURCE]);
    return readFileSync(join(directory, 'QuadmillFunctions.class'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const pageOf = (
  sha256: string,
  bytes: Buffer,
): string => `/** \`QuadmillFunctions.java\`, compiled for Java 11. \`UPDATE_GOLDEN=1\` makes it in \`java-class.test.ts\`. */

/** SHA-256 of the source. */
export const HOST_SOURCE_SHA256 = '${sha256}';

/** The class, in base64. */
export const HOST_CLASS =
  '${bytes.toString('base64')}';
`;
