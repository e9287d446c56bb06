/** The program xz, as the judge of what is read and written here. */
import { spawnSync } from 'node:child_process';

const MOST_BYTES = 2 ** 28;

export type XzCheck = 'crc32' | 'crc64' | 'sha256';

/** @param preset 0 to 9 */
export const xzCompress = (content: Buffer, preset = 1, check: XzCheck = 'crc64'): Buffer =>
  xz(content, '--compress', `-${preset}`, `--check=${check}`);

export const xzDecompress = (packed: Buffer): Buffer => xz(packed, '--decompress');

function xz(input: Buffer, ...args: readonly string[]): Buffer {
  const { error, status, stdout, stderr } = spawnSync('xz', ['--format=xz', '--stdout', ...args], { input, maxBuffer: MOST_BYTES });
  if (error !== undefined) throw new Error(`the program xz is needed (package xz-utils): ${error.message}`);
  if (status !== 0) throw new Error(`xz ${args.join(' ')} failed: ${stderr}`);
  return stdout;
}
