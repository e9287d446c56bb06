/** Services of a serving process (`bin/commands/services.ts`): started in order, stopped in the reverse one, whatever fails. */
import { describe, expect, test } from '@jest/globals';
import { Services } from '../../bin/commands/services.ts';
import { type Logger, quietLogger } from '../../src/core/telemetry/observe.ts';

function recorded(): { readonly seen: string[]; readonly services: Services } {
  const seen: string[] = [];
  const error = ({ service }: { readonly service: string }, message: string): void => void seen.push(`${service} ${message}`);
  return { seen, services: new Services(Object.assign(quietLogger(), { error }) as Logger) };
}

describe('the services of a process', () => {
  test('take no more work at once, and stop in the reverse order', async () => {
    const { seen, services } = recorded();
    let left = (): void => undefined;
    await services.start('a', () => ({ close: () => seen.push('a closed') }));
    await services.start('b', () => 'b', {
      leave: () => {
        seen.push('b leaves');
        return new Promise<void>((resolve) => {
          left = resolve;
        });
      },
      stop: (name) => seen.push(`${name} stopped`),
    });
    const last = await services.start('c', async () => 7, {
      leave: () => seen.push('c leaves'),
      stop: async (number) => {
        seen.push(`c stopped ${number}`);
        left();
      },
    });
    expect(last).toBe(7);
    expect(await services.stop()).toBe(true);
    expect(seen).toEqual(['b leaves', 'c leaves', 'c stopped 7', 'b stopped', 'a closed']);
  });

  test('stop where one fails, which is named', async () => {
    const { seen, services } = recorded();
    const fail = (): never => {
      throw new Error('no');
    };
    await services.start('a', () => ({ close: () => seen.push('a closed') }));
    await services.start('b', () => 1, { leave: async () => fail(), stop: () => seen.push('b stopped') });
    await services.start('c', () => 1, { stop: fail });
    await expect(services.start('d', fail)).rejects.toThrow('no');
    await services.start('none', () => undefined);
    expect(await services.stop()).toBe(false);
    expect(seen).toEqual(['b not stopped', 'c not stopped', 'b stopped', 'a closed']);
  });
});
