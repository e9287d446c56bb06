/** The command line within this process: as a test sees it, and faster than a separate process. */
import { jest } from '@jest/globals';
import { main } from '../../../bin/main.ts';

export interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** `quadmill …` with `directory` as its working directory. Not for commands that take signals or standard input. */
export async function quadmillHere(directory: string, ...args: readonly string[]): Promise<Printed> {
  const before = process.cwd();
  const printed = { out: '', err: '' };
  const catching = (stream: NodeJS.WriteStream, name: keyof typeof printed) =>
    jest.spyOn(stream, 'write').mockImplementation((text) => {
      printed[name] += text;
      return true;
    });
  const spies = [catching(process.stdout, 'out'), catching(process.stderr, 'err')];
  process.chdir(directory);
  try {
    return { code: await main(args), ...printed };
  } finally {
    process.chdir(before);
    for (const spy of spies) spy.mockRestore();
  }
}
