/** The content of files in the format xz, unpacked by the program xz: streams in a row, every check that the format knows. */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { boundOf, INFLATION_FLOOR_BYTES, inflationFault } from '../../core/limits.ts';
import type { Chunks } from './byte-reader.ts';
import { startXz } from './xz-program.ts';

/** What `xz -9` writes needs half of it. */
const MOST_MEMORY_MIB = 130;

/**
 * @param ratio see `RunLimits.inflationRatio`
 * @throws Fault source/malformed — no xz, damaged or cut off; source/refused — a check or filter that is not known, or there is no program xz;
 * source/unreadable — the program fails; limit/exceeded — it unpacks to too much, or asks for too much memory; those of `chunks`
 */
export async function* unxz(chunks: Chunks, name: string, ratio: number): Chunks {
  const { child, ended } = await startXz('source/refused', name, '--decompress', `--memlimit-decompress=${MOST_MEMORY_MIB}MiB`).catch(
    (error) => {
      close(chunks);
      throw error;
    },
  );
  let failure: { readonly error: unknown } | undefined;
  let packedBytes = 0;
  const feed = async (): Promise<void> => {
    try {
      for await (const chunk of chunks) {
        packedBytes += chunk.length;
        await new Promise<void>((taken) => child.stdin.write(chunk, () => taken()));
        if (child.stdin.destroyed) return;
      }
    } catch (error) {
      failure = { error };
    }
    child.stdin.end();
  };
  void feed();
  try {
    let bytes = 0;
    for await (const content of child.stdout as AsyncIterable<Buffer>) {
      bytes += content.length;
      if (bytes > INFLATION_FLOOR_BYTES && bytes > packedBytes * boundOf(ratio)) throw inflationFault(ratio, { input: name });
      yield content;
    }
    const message = await ended;
    if (failure !== undefined) throw failure.error;
    if (message !== undefined) throw xzFault(message, { input: name });
  } finally {
    child.kill();
    child.stdin.destroy();
    close(chunks);
  }
}

/** Does not wait: a chunk that is being read may never come. */
function close(chunks: Chunks): void {
  chunks.return().catch(() => undefined);
}

/** @param message of the program, in English */
function xzFault(message: string, place: FaultPlace): Fault {
  const reason = message.split('\n')[0]?.replace(/^xz: (?:\(stdin\): )?/, '') as string;
  if (reason === 'File format not recognized')
    return new Fault('source/malformed', 'The input should be compressed with xz, and is not', {
      place,
      hint: 'Compare the rml:compression of the mapping, or the ending of the file name, with the file',
    });
  if (reason === 'Memory usage limit reached')
    return new Fault('limit/exceeded', `The xz input asks for more than ${MOST_MEMORY_MIB} MiB of memory`, {
      place,
      hint: 'Compress it with xz -9 or less, or give it unpacked',
    });
  if (reason.startsWith('Unsupported'))
    return new Fault('source/refused', `The xz input cannot be read: ${reason}`, { place, hint: 'Unpack it' });
  if (reason === 'Unexpected end of input')
    return new Fault('source/malformed', 'The xz input is damaged: it ends too early', {
      place,
      hint: 'The file is probably cut off; fetch or write it again',
    });
  if (reason === 'Compressed data is corrupt')
    return new Fault('source/malformed', 'The xz input is damaged: its content or its checksums are not those that were written', {
      place,
      hint: 'Fetch or write the file again; xz -t tests it',
    });
  return new Fault('source/unreadable', `The program xz does not unpack the input: ${reason}`, {
    place,
    hint: 'Quadmill needs xz of XZ Utils, and 130 MiB of memory for it',
  });
}
