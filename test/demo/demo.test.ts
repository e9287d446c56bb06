import { expect, test } from '@jest/globals';
import { demo } from './run-demo.ts';

test('npm run demo maps its files, shows two failures, asks the graph and leaves nothing behind', async () => {
  const out = await demo();
  expect(out).toContain('Ring Road Secondary School,871,68.25,Ring Road South');
  expect(out).toContain("the file extension 'png'");
  expect(out.match(/→ 400 Bad Request/g)).toHaveLength(2);
});
